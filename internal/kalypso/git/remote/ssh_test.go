package remote_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	gitremote "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestUnknownHost: with an unknown or changed host key, the connection ends before any credential is sent.
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
				t.Errorf("no fingerprint in %v", err)
			}
		})
	}
}

// TestSSHWithoutKey: without an agent, the error names the argument to set.
func TestSSHWithoutKey(t *testing.T) {
	t.Setenv("SSH_AUTH_SOCK", "")
	server := gitserver.NewSSH(t)
	_, err := open(t, server.URL("/x"), []gitremote.Credential{
		{URL: "ssh://" + server.Host, KnownHosts: server.KnownHosts},
	}).Ref(t.Context(), main)
	is(t, err, gitremote.ErrUnauthorized)
}

// TestUnreachable: no server listens on the port.
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

// TestCancelRequestToSilentServer: with a server that accepts the connection and does not answer, the request ends with
// its context.
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

// TestNotGit: an answer that is a web page is not an empty repository.
func TestNotGit(t *testing.T) {
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

// TestTooLarge: the size of a fetch is limited.
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

// TestNoTempFile: a failure to write a temporary file is not reported as a wrong credential.
func TestNoTempFile(t *testing.T) {
	server := gitserver.NewSSH(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	_, err := open(t, server.URL("/none"), sshCredential(server)).Ref(t.Context(), main)
	is(t, err, gitremote.ErrNoTempFile)
	if !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("what to do is not in %v", err)
	}
}
