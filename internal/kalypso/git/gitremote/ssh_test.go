package gitremote_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestUnknownHost: if the host key is unknown or has changed, the connection ends before a credential is sent.
func TestUnknownHost(t *testing.T) {
	repo := gitserver.InitBare(t)
	server, other := gitserver.NewSSH(t), gitserver.NewSSH(t)
	changed := strings.Fields(server.KnownHosts)[0] + " " + strings.SplitN(other.KnownHosts, " ", 2)[1]
	for name, known := range map[string]string{"unknown": other.KnownHosts, "changed": changed} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, server.URL(repo), []gitremote.Credential{
				{URL: "ssh://" + server.Host, PrivateKey: server.PrivateKey, KnownHosts: known},
			}).Ref(t.Context(), main)
			is(t, err, gitremote.ErrUnknownHost)
			if !strings.Contains(err.Error(), ssh.FingerprintSHA256(server.HostKey)) {
				t.Errorf("the error does not contain the fingerprint: %v", err)
			}
		})
	}
}

// TestSSHWithoutKey: without a key and an agent, the error names the argument to set.
func TestSSHWithoutKey(t *testing.T) {
	t.Setenv("SSH_AUTH_SOCK", "")
	server := gitserver.NewSSH(t)
	_, err := open(t, server.URL("/x"), []gitremote.Credential{
		{URL: "ssh://" + server.Host, KnownHosts: server.KnownHosts},
	}).Ref(t.Context(), main)
	is(t, err, gitremote.ErrUnauthorized)
}

// TestUnreachable: if no server listens on the port, the server is unreachable over each scheme.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	server := gitserver.NewSSH(t)
	for _, url := range []string{"http://" + l.Addr().String() + "/x", "https://" + l.Addr().String() + "/x",
		"ssh://" + l.Addr().String() + "/x"} {
		_, err := open(t, url, []gitremote.Credential{
			{URL: "ssh://" + l.Addr().String(), PrivateKey: server.PrivateKey, KnownHosts: server.KnownHosts},
		}).Ref(t.Context(), main)
		is(t, err, gitremote.ErrUnreachable)
	}
}

// TestCancelRequestToSilentServer: a server accepts the connection and does not answer. The request ends when its
// context ends.
func TestCancelRequestToSilentServer(t *testing.T) {
	server := gitserver.NewSSH(t)
	for _, scheme := range []string{"http", "https", "ssh"} {
		t.Run(scheme, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			accepted := make(chan net.Conn, 1)
			go func() {
				if conn, err := l.Accept(); err == nil {
					accepted <- conn
				}
				cancel()
			}()
			_, err = open(t, scheme+"://"+l.Addr().String()+"/x", []gitremote.Credential{
				{URL: "ssh://" + l.Addr().String(), PrivateKey: server.PrivateKey, KnownHosts: server.KnownHosts},
			}).Ref(ctx, main)
			is(t, err, context.Canceled)
			_ = l.Close()
			_ = (<-accepted).Close()
		})
	}
}

// TestWebPage: a web page instead of Git's answer is an error. It is not read as an empty repo.
func TestWebPage(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	page := &http.Server{Handler: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>sign in")) })}
	done := make(chan error, 1)
	go func() { done <- page.Serve(l) }()
	t.Cleanup(func() {
		_ = page.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	at, err := open(t, "http://"+l.Addr().String()+"/x", nil).Ref(t.Context(), main)
	if err == nil || !strings.Contains(err.Error(), "text/html") {
		t.Errorf("got %s, %v", at, err)
	}
}

// TestTooLarge: a fetch ends with an error when it has read more than its limit.
func TestTooLarge(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"big": strings.Repeat("0123456789", 100_000)})
	r := open(t, repo, nil, gitremote.WithMaxRead(1000))
	at, err := r.Ref(t.Context(), main)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Fetch(t.Context(), gitremote.FetchRequest{Wants: []hash{at}, Depth: 1}, gitremote.Objects{})
	is(t, err, gitremote.ErrTooLarge)
}

// TestMissingTempFolder: if no temporary file can be written, the error says so, and not that the credential is wrong.
func TestMissingTempFolder(t *testing.T) {
	server := gitserver.NewSSH(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	_, err := open(t, server.URL("/none"), sshCredential(server)).Ref(t.Context(), main)
	is(t, err, gitremote.ErrNoTempFile)
	if !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("the error does not name TMPDIR: %v", err)
	}
}
