package remote_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	gitremote "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestHookOutputIsRedacted: an error shows the output of a hook with control characters escaped and secrets replaced,
// even if one secret is a prefix of another.
func TestHookOutputIsRedacted(t *testing.T) {
	const printed = "\x1b[2J\x1b[1;1HApply complete! \u202egnp.exe\u2066 canary-and-longer canary \u009b31m\x07"
	const want = `\x1b[2J\x1b[1;1HApply complete! \u202egnp.exe\u2066 (secret) (secret) \u009b31m\a`
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
			gitserver.Hook(t, repo, "pre-receive", printed, 1)
			url, credentials := backend.Start(t, repo)
			credentials = append(credentials,
				gitremote.Credential{URL: "https://a.acme.io", Username: "me", Password: "canary"},
				gitremote.Credential{URL: "https://b.acme.io", Username: "me", Password: "canary-and-longer"})
			r := open(t, url, credentials)
			head, err := r.Ref(t.Context(), main)
			if err != nil {
				t.Fatal(err)
			}
			err = pushTo(t.Context(), r, gitremote.PushRequest{Branch: main, Old: head})
			is(t, err, gitremote.ErrRejected)
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want %q in it", err, want)
			}
		})
	}
}

// TestServerMessagesAreRedacted: control characters are also escaped in headers and bodies of HTTP, and in messages of
// Git's protocol.
func TestServerMessagesAreRedacted(t *testing.T) {
	for name, answer := range map[string]string{
		"HTTP 403": "HTTP/1.1 403 \x1b[2J\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\n\x1b[2J no entry",
		"ERR": "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nConnection: close\r\n\r\n" +
			"001e# service=git-upload-pack\n0000" + "0015ERR \x1b[2J no entry",
		"unknown content type": "HTTP/1.1 200 OK\r\nContent-Type: \x1b[2J\r\nContent-Length: 0\r\n\r\n",
		"no HTTP":              "\x1b[2J no HTTP\r\n\r\n",
	} {
		_, err := open(t, "http://"+startAnswer(t, answer)+"/x", nil).Ref(t.Context(), main)
		shown := name == "HTTP 403" || name == "ERR"
		if err == nil || strings.Contains(err.Error(), "\x1b") || shown && !strings.Contains(err.Error(), `\x1b[2J`) {
			t.Errorf("%s: got %q", name, err)
		}
	}
}

// startAnswer starts a server that answers one request with a text, and returns its address.
func startAnswer(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = http.ReadRequest(bufio.NewReader(conn))
		_, _ = conn.Write([]byte(answer))
	})
	t.Cleanup(func() {
		_ = l.Close()
		done.Wait()
	})
	return l.Addr().String()
}
