package gitremote_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
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

// TestLongHookOutput: the reason of a hook is shown, and our advice is found, whether it is the first or the last of
// many lines. No half of a secret is shown where the output is cut.
func TestLongHookOutput(t *testing.T) {
	const secret = "canary-in-the-middle"
	reason := "GitLab: You are not allowed to push code to protected branches on this project."
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			for _, lines := range []int{600, 30_000} {
				noise := strings.TrimSuffix(strings.Repeat("checking "+secret+" of the commit\n", lines), "\n")
				for name, printed := range map[string]string{"first": reason + "\n" + noise, "last": noise + "\n" + reason} {
					repo := gitserver.InitBare(t)
					gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
					gitserver.Hook(t, repo, "pre-receive", printed, 1)
					url, credentials := backend.Start(t, repo)
					credentials = append(credentials,
						gitremote.Credential{URL: "https://a.acme.io", Username: "me", Password: secret})
					r := open(t, url, credentials)
					head, err := r.Ref(t.Context(), main)
					if err != nil {
						t.Fatal(err)
					}
					err = pushTo(t.Context(), r, gitremote.PushRequest{Branch: main, Old: head})
					is(t, err, gitremote.ErrProtected)
					text := err.Error()
					if !strings.Contains(text, reason) || !strings.Contains(text, "bytes left out") {
						t.Errorf("%d lines, the reason is the %s: %d bytes, %.300q", lines, name, len(text), text)
					}
					var rejected *gitremote.RejectedError
					if !errors.As(err, &rejected) || !strings.Contains(rejected.Advice(), "pull request") {
						t.Errorf("%d lines, the reason is the %s: no advice", lines, name)
					}
					if len(text) > 32<<10 || strings.Contains(text, "canary") || strings.Contains(text, "middle") {
						t.Errorf("%d lines: %d bytes, or a secret", lines, len(text))
					}
				}
			}
		})
	}
}

// TestLongHTTPText: of a long text with a status, the end is shown too. HTTP 413 has advice.
func TestLongHTTPText(t *testing.T) {
	body := "the first line\n" + strings.Repeat("more and more text\n", 100_000) + "the reason"
	answer := fmt.Sprintf("HTTP/1.1 413 Too Large\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
	_, err := open(t, "http://"+startAnswer(t, answer)+"/x", nil).Ref(t.Context(), main)
	is(t, err, gitremote.ErrRequestTooLarge)
	for _, want := range []string{
		"the first line", "bytes left out", "the reason", "HTTP status 413", "client_max_body_size", "SSH URL",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %.300q…", want, err)
		}
	}
	if gitremote.Summary(err) != "Request too large for the server" || len(err.Error()) > 20<<10 {
		t.Errorf("%q, %d bytes", gitremote.Summary(err), len(err.Error()))
	}
}

// TestForeignOwner: a local repo of another user is not a matter of credentials.
func TestForeignOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
	if err := os.Chown(repo, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, "file://"+repo, nil).Ref(t.Context(), main)
	is(t, err, gitremote.ErrForeignOwner)
	if !strings.Contains(err.Error(), "safe.directory") || gitremote.Summary(err) != "Repo of another user" {
		t.Errorf("%q: %v", gitremote.Summary(err), err)
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
