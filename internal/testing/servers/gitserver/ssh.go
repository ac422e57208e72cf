package gitserver

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

var sshd = programs.Program{Name: "sshd", Add: "apt-get install openssh-server"}

// SSHServer is sshd on loopback that accepts one key.
type SSHServer struct {
	Host       string // 127.0.0.1:port
	User       string // the user who runs the test
	PrivateKey string // the accepted key, in OpenSSH format
	KnownHosts string // the line of the server for known_hosts
	HostKey    ssh.PublicKey

	dir string // the folder with the server's files
}

// URL returns the SSH URL of a path on this machine.
func (s *SSHServer) URL(path string) string {
	return "ssh://" + s.User + "@" + s.Host + path
}

// SSHOption configures an [SSHServer].
type SSHOption func(*sshSettings)

type sshSettings struct{ protocolV0 bool }

// WithoutGitProtocol rejects GIT_PROTOCOL, as sshd does by default. Then git speaks protocol version 0.
func WithoutGitProtocol() SSHOption {
	return func(s *sshSettings) { s.protocolV0 = true }
}

// NewSSH starts a server. Like inetd, it accepts connections itself and starts one sshd for each, so that sshd needs no
// free port.
func NewSSH(t testing.TB, options ...SSHOption) *SSHServer {
	t.Helper()
	var set sshSettings
	for _, o := range options {
		o(&set)
	}
	program := lookSSHD(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	hostPrivate, hostPublic := newKey(t)
	userPrivate, userPublic := newKey(t)
	write(t, filepath.Join(dir, "host_key"), hostPrivate)
	write(t, filepath.Join(dir, "authorized_keys"), string(ssh.MarshalAuthorizedKey(userPublic)))
	write(t, filepath.Join(dir, "sshd_config"), sshdConfig(dir, installFaults(t, dir), set))

	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, listener, program, filepath.Join(dir, "sshd_config"))
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return &SSHServer{
		dir: dir, Host: listener.Addr().String(), User: me.Username, PrivateKey: userPrivate, HostKey: hostPublic,
		KnownHosts: fmt.Sprintf("[127.0.0.1]:%s %s", port, ssh.MarshalAuthorizedKey(hostPublic)),
	}
}

func sshdConfig(dir, forceCommand string, set sshSettings) string {
	lines := []string{
		"HostKey " + filepath.Join(dir, "host_key"),
		"AuthorizedKeysFile " + filepath.Join(dir, "authorized_keys"),
		"PidFile none",
		"StrictModes no",
		"UsePAM no",
		"PasswordAuthentication no",
		"KbdInteractiveAuthentication no",
		"PermitRootLogin prohibit-password",
		"PermitUserEnvironment no",
		"LogLevel ERROR",
		// HOME is a folder without settings for a shell, so that the user's shell does not read them for each command.
		"SetEnv " + quoted(append(slices.Clone(hermetic), "HOME="+dir)),
		forceCommand,
	}
	if !set.protocolV0 {
		lines = append(lines, "AcceptEnv GIT_PROTOCOL")
	}
	return strings.Join(lines, "\n") + "\n"
}

func quoted(env []string) string {
	return strings.Join(lists.Map(env, func(v string) string { return `"` + v + `"` }), " ")
}

func serve(t testing.TB, listener *net.TCPListener, program, config string) {
	var mu sync.Mutex
	var running []*exec.Cmd
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		for {
			conn, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			f, err := conn.File()
			_ = conn.Close()
			if err != nil {
				continue
			}
			cmd := exec.Command(program, "-i", "-e", "-f", config)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, os.Stderr
			err = cmd.Start()
			_ = f.Close()
			if err != nil {
				continue
			}
			mu.Lock()
			running = append(running, cmd)
			mu.Unlock()
			done.Add(1)
			go func() {
				defer done.Done()
				_ = cmd.Wait()
			}()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, cmd := range running {
			_ = cmd.Process.Kill()
		}
		mu.Unlock()
		done.Wait()
	})
}

func lookSSHD(t testing.TB) string {
	t.Helper()
	found := sshd.Find(t, "/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd")
	// sshd needs this folder, which Debian creates only when it starts the service.
	if os.Geteuid() == 0 {
		_ = os.MkdirAll("/run/sshd", 0o755)
	}
	return found
}

func newKey(t testing.TB) (private string, public ssh.PublicKey) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "test")
	if err != nil {
		t.Fatal(err)
	}
	public, err = ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), public
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
