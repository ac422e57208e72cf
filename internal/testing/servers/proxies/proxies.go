// Package proxies runs real proxies on loopback: tinyproxy for HTTP, and microsocks for SOCKS5.
package proxies

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
	*programs.Process
}

// Connections returns how many connections to a server's address the proxy has logged.
func (p *Proxy) Connections(to string) int {
	return strings.Count(p.Log(1<<20), to)
}

// Tinyproxy starts a proxy for HTTP that connects to the given ports. It requires a password unless the user is empty.
func Tinyproxy(t *testing.T, user, password string, ports ...string) *Proxy {
	t.Helper()
	binary := tinyproxy.Find(t, "tinyproxy", "/usr/bin/tinyproxy", "/usr/sbin/tinyproxy")
	address := programs.FreeAddress(t)
	text := fmt.Sprintf("Port %s\nListen 127.0.0.1\nTimeout 10\nMaxClients 10\nLogLevel Connect\n",
		programs.Port(address))
	if user != "" {
		text += "BasicAuth " + user + " " + password + "\n"
	}
	for _, to := range ports {
		text += "ConnectPort " + to + "\n"
	}
	config := filepath.Join(t.TempDir(), "tinyproxy.conf")
	programs.WriteFile(t, config, text)
	return start(t, address, exec.Command(binary, "-d", "-c", config))
}

// Microsocks starts a proxy for SOCKS5. It requires a password unless the user is empty.
func Microsocks(t *testing.T, user, password string) *Proxy {
	t.Helper()
	binary := microsocks.Find(t, "microsocks", "/usr/bin/microsocks")
	address := programs.FreeAddress(t)
	arguments := []string{"-i", "127.0.0.1", "-p", programs.Port(address)}
	if user != "" {
		arguments = append(arguments, "-u", user, "-P", password)
	}
	return start(t, address, exec.Command(binary, arguments...))
}

// start starts a proxy, and waits until it listens.
func start(t *testing.T, address string, command *exec.Cmd) *Proxy {
	t.Helper()
	p := &Proxy{address, programs.Run(t, filepath.Join(t.TempDir(), "log"), command, os.Kill)}
	p.AwaitListening(t, "tcp", address)
	return p
}
