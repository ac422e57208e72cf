package gitremote_test

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestLoginFunc: if no credential matches, the login function is called for each connection. No error contains the
// password that it returns.
func TestLoginFunc(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
	_, url := gitserver.Serve(t, repo, gitserver.WithBasic("me", "canary-right"))
	asked := 0
	given := func(word string, err error) gitremote.Option {
		return loginFunc(func(repo string) (gitremote.Login, error) {
			asked++
			if repo != url {
				t.Errorf("asked for %q, not %q", repo, url)
			}
			if word == "" {
				return gitremote.Login{}, err
			}
			return gitremote.Login{Username: "me", Password: word, Source: "the provider's github token or app"}, err
		})
	}
	for range 2 {
		if at, err := open(t, url, nil, given("canary-right", nil)).Ref(t.Context(), main); err != nil || at.IsZero() {
			t.Errorf("got %s, %v", at, err)
		}
	}
	if asked < 2 {
		t.Errorf("asked %d times", asked)
	}
	_, err := open(t, url, nil, given("canary-wrong", nil)).Ref(t.Context(), main)
	is(t, err, gitremote.ErrUnauthorized)
	if !strings.Contains(err.Error(), "the provider's github token or app was used") {
		t.Error(err)
	}
	_, err = open(t, url, nil, given("", nil)).Ref(t.Context(), main)
	is(t, err, gitremote.ErrUnauthorized)
	if !strings.Contains(err.Error(), "no credential matches it") {
		t.Error(err)
	}
	if _, err := open(t, url, nil, given("", errors.New("no token today"))).Ref(t.Context(), main); err == nil ||
		!strings.Contains(err.Error(), "no token today") {
		t.Errorf("got %v", err)
	}

	// A credential with a password has priority over the function. One with only a CA does not replace it.
	asked = 0
	if _, err := open(t, url, []gitremote.Credential{{URL: url, Username: "me", Password: "canary-right"}},
		given("canary-wrong", nil)).Ref(t.Context(), main); err != nil || asked > 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	secure, secureURL := gitserver.Serve(t, repo, gitserver.WithTLS(), gitserver.WithBasic("me", "canary-right"))
	url = secureURL
	if _, err := open(t, url, []gitremote.Credential{{URL: url, CACertificate: secure.CA}},
		given("canary-right", nil)).Ref(t.Context(), main); err != nil {
		t.Error(err)
	}
	// No password is sent over plain http to another machine.
	asked = 0
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, "http://git.invalid/repo", nil, given("canary-right", nil)).Ref(ctx, main); err == nil ||
		asked > 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// TestRenewedLogin: if the server refuses a login, the function is called once more. If it returns another login, the
// request is repeated with it. No error contains a login.
func TestRenewedLogin(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
	for name, options := range map[string][]gitserver.Option{
		"401": {gitserver.WithBearer("canary-2")}, "203": {gitserver.WithBearer("canary-2"), gitserver.Azure()},
	} {
		t.Run(name, func(t *testing.T) {
			server, url := gitserver.Serve(t, repo, options...)
			var refused []string
			token := func(tokens ...string) gitremote.Option {
				server.ResetLog()
				refused = nil
				return renewedBy(func(_ context.Context, _ string, r gitremote.Login) (gitremote.Login, error) {
					if r.Bearer != "" {
						refused = append(refused, r.Bearer)
						tokens = tokens[1:]
					}
					return gitremote.Login{Bearer: tokens[0], Source: "a test"}, nil
				})
			}
			if err := readAll(t.Context(), open(t, url, nil, token("canary-1", "canary-2")), head); err != nil {
				t.Errorf("another token: %v", err)
			}
			if diff := cmp.Diff([]string{"canary-1"}, refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			err := readAll(t.Context(), open(t, url, nil, token("canary-1", "canary-1")), head)
			is(t, err, gitremote.ErrUnauthorized)
			if n := len(server.Requests()); n != 1 || !strings.Contains(err.Error(), "a test was used") {
				t.Errorf("the same token: %d requests, %v", n, err)
			}
			is(t, readAll(t.Context(), open(t, url, nil, token("canary-1", "canary-3", "canary-2")), head),
				gitremote.ErrUnauthorized)
			if n := len(server.Requests()); n != 2 {
				t.Errorf("two wrong tokens: %d requests", n)
			}
		})
	}
}

// TestLoginNotRenewed: if the function fails when it is called after a refusal, its error is returned. The server's
// refusal is not logged.
func TestLoginNotRenewed(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
	server, url := gitserver.Serve(t, repo, gitserver.WithBearer("canary-2"))
	var logged strings.Builder
	log.SetOutput(&logged) // net/http logs an answer that comes with an error
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	err := readAll(t.Context(), open(t, url, nil, renewedBy(
		func(_ context.Context, _ string, r gitremote.Login) (gitremote.Login, error) {
			if r.Bearer != "" {
				return gitremote.Login{}, errors.New("no more tokens")
			}
			return gitremote.Login{Bearer: "canary-1"}, nil
		})), head)
	if err == nil || !strings.Contains(err.Error(), "no more tokens") {
		t.Errorf("error %v", err)
	}
	if n := len(server.Requests()); n != 1 || logged.Len() > 0 {
		t.Errorf("%d requests, logged %q", n, logged.String())
	}
}

// TestLoginRenewedInSession: if a token expires during a session, a read is repeated with a new token, also if it has a
// body. A pack is not sent again.
func TestLoginRenewedInSession(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
	server, url := gitserver.Serve(t, repo)
	var refused []string
	renewed := renewedBy(func(_ context.Context, _ string, r gitremote.Login) (gitremote.Login, error) {
		if r.Bearer == "" {
			return gitremote.Login{Bearer: "canary-1"}, nil
		}
		refused = append(refused, r.Bearer)
		return gitremote.Login{Bearer: "canary-2"}, nil
	})
	end := gitserver.Fault{Method: http.MethodPost, Status: http.StatusUnauthorized}
	server.Fail(end)
	if err := readAll(t.Context(), open(t, url, nil, renewed), head); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"canary-1"}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	server.Fail(end)
	at := plumbing.NewHash(head)
	push := gitremote.PushRequest{Branch: main, Old: at, New: at, Pack: strings.NewReader("pack"), Size: 4}
	is(t, pushTo(t.Context(), open(t, url, nil, renewed), push), gitremote.ErrUnauthorized)
	if len(refused) != 1 {
		t.Errorf("the push was sent again after %q", refused)
	}
}
