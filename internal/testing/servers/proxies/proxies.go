// Package proxies runs real proxies on loopback: tinyproxy for HTTP, and microsocks for SOCKS5.
package proxies

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

var (
	tinyproxy  = programs.Program{Name: "tinyproxy", Add: "apt-get install tinyproxy"}
	microsocks = programs.Program{Name: "microsocks", Add: "apt-get install microsocks"}
)

// Server is an address of this machine for URLs that are requested over a proxy. Clients connect to 127.0.0.1 without
// the proxy.
const Server = "0.0.0.0"

// Through returns a URL on loopback with [Server] as its host.
func Through(url string) string { return strings.Replace(url, "127.0.0.1", Server, 1) }

// Proxy is a running proxy.
type Proxy struct {
	Address string // host:port
	log     *output
}

// Connections returns how many connections to a server's address the proxy has logged.
func (p *Proxy) Connections(to string) int {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return strings.Count(p.log.text.String(), to)
}

// Tinyproxy starts a proxy for HTTP that connects to the given ports. It requires a password unless the user is empty.
func Tinyproxy(t *testing.T, user, password string, ports ...string) *Proxy {
	t.Helper()
	binary := tinyproxy.Find(t, "tinyproxy", "/usr/bin/tinyproxy", "/usr/sbin/tinyproxy")
	address, port := programs.FreeAddress(t)
	text := fmt.Sprintf("Port %s\nListen 127.0.0.1\nTimeout 10\nMaxClients 10\nLogLevel Connect\n", port)
	if user != "" {
		text += "BasicAuth " + user + " " + password + "\n"
	}
	for _, to := range ports {
		text += "ConnectPort " + to + "\n"
	}
	config := filepath.Join(t.TempDir(), "tinyproxy.conf")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, address, exec.CommandContext(t.Context(), binary, "-d", "-c", config))
}

// Microsocks starts a proxy for SOCKS5. It requires a password unless the user is empty.
func Microsocks(t *testing.T, user, password string) *Proxy {
	t.Helper()
	binary := microsocks.Find(t, "microsocks", "/usr/bin/microsocks")
	address, port := programs.FreeAddress(t)
	arguments := []string{"-i", "127.0.0.1", "-p", port}
	if user != "" {
		arguments = append(arguments, "-u", user, "-P", password)
	}
	return start(t, address, exec.CommandContext(t.Context(), binary, arguments...))
}

// start starts a proxy, and waits until it listens.
func start(t *testing.T, address string, command *exec.Cmd) *Proxy {
	t.Helper()
	p := &Proxy{Address: address, log: &output{}}
	command.Stdout, command.Stderr = p.log, p.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = command.Process.Kill(), command.Wait() })
	for range 100 {
		if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Address); err == nil {
			_ = conn.Close()
			return p
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", command.Path)
	return nil
}

// output records the output of a program.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}
