package gitremote_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// TestPasswords: the function is used without a credential, called for each request, and its passwords are in no
// error.
func TestPasswords(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
	_, url := gitserver.Serve(t, repo, gitserver.WithBasic("me", "canary-right"))
	asked := 0
	given := func(word string, err error) gitremote.Option {
		return gitremote.WithPasswordFunc(func(_ context.Context, repo string) (string, string, error) {
			if asked++; repo != url {
				t.Errorf("asked for %q, not %q", repo, url)
			}
			return "me", word, err
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

	// A credential comes first, and one without a password lets the function through.
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
	// Nothing goes over plain http to another machine.
	asked = 0
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, "http://git.invalid/repo", nil, given("canary-right", nil)).Ref(ctx, main); err == nil ||
		asked > 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}
