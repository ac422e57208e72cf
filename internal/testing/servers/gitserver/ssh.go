package gitserver

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
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

// NewSSH starts a server.
func NewSSH(t testing.TB) *SSHServer {
	t.Helper()
	return newSSH(t, "AcceptEnv GIT_PROTOCOL")
}

// newSSH starts a server with more settings. By default, sshd rejects GIT_PROTOCOL, and git speaks protocol version 0.
// Like inetd, it accepts connections itself and starts one sshd for each, so that sshd needs no free port.
func newSSH(t testing.TB, more ...string) *SSHServer {
	t.Helper()
	program := lookSSHD(t)
	me, err := user.Current()
	must.Succeed(t, err)
	dir := t.TempDir()
	hostPrivate, hostKey := newKey(t, newEd25519)
	userPrivate, userKey := newKey(t, newEd25519)
	programs.WriteFile(t, filepath.Join(dir, "host_key"), hostPrivate)
	programs.WriteFile(t, filepath.Join(dir, "authorized_keys"), string(ssh.MarshalAuthorizedKey(userKey.PublicKey())))
	programs.WriteFile(t, filepath.Join(dir, "sshd_config"), sshdConfig(dir, append(more, installFaults(t, dir))))

	host := programs.Listen(t, func(conn net.Conn) {
		serve(t.Context(), conn, program, filepath.Join(dir, "sshd_config"))
	})
	return &SSHServer{
		dir: dir, Host: host, User: me.Username, PrivateKey: userPrivate, HostKey: hostKey.PublicKey(),
		KnownHosts: knownhosts.Line([]string{host}, hostKey.PublicKey()),
	}
}

func sshdConfig(dir string, more []string) string {
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
	}
	return strings.Join(append(lines, more...), "\n") + "\n"
}

func quoted(env []string) string {
	return strings.Join(lists.Map(env, func(v string) string { return `"` + v + `"` }), " ")
}

// serve lets a process of sshd serve a connection.
func serve(ctx context.Context, conn net.Conn, program, config string) {
	f, err := conn.(*net.TCPConn).File() //nolint:forcetypeassert // Listen listens on TCP
	if err != nil {
		return
	}
	defer f.Close()
	cmd := exec.CommandContext(ctx, program, "-i", "-e", "-f", config)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, os.Stderr
	_ = cmd.Run()
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

func newEd25519() (crypto.Signer, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return key, err
}

// newKey makes a key. It returns the key in OpenSSH format, and its signer.
func newKey(t testing.TB, generate func() (crypto.Signer, error)) (private string, signer ssh.Signer) {
	t.Helper()
	key, err := generate()
	must.Succeed(t, err)
	block, err := ssh.MarshalPrivateKey(key, "test")
	if err == nil {
		signer, err = ssh.NewSignerFromKey(key)
	}
	must.Succeed(t, err)
	return string(pem.EncodeToMemory(block)), signer
}
