package redact_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
)

func TestRedact(t *testing.T) {
	const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nAgEA\n-----END KEY-----\n"
	for name, tc := range map[string]struct {
		secrets    []string
		text, want string
	}{
		"no secrets":                        {nil, "a token", "a token"},
		"an empty secret":                   {[]string{""}, "a token", "a token"},
		"a secret that occurs twice":        {[]string{"token"}, "a token, a token", "a (secret), a (secret)"},
		"a secret that begins with another": {[]string{"tok", "token"}, "a token, a tok", "a (secret), a (secret)"},
		"a secret that begins with another, in another order": {[]string{"token", "tok"}, "a token, a tok",
			"a (secret), a (secret)"},
		"a secret that contains another": {[]string{"ok", "token"}, "a token, ok", "a (secret), (secret)"},
		"a key":                          {[]string{key}, key, "(secret)"},
		"a line of a key":                {[]string{key}, "line 2 is MIIEvQIBADANBgkqhkiG", "line 2 is (secret)"},
		"the public lines of a key":      {[]string{key}, "-----BEGIN KEY----- AgEA", "-----BEGIN KEY----- AgEA"},
		"a secret that occurs in the replacement of another": {[]string{"secret", "x"}, "x secret", "(secret) (secret)"},
	} {
		var s redact.Secrets
		for _, secret := range tc.secrets {
			s.Redact(tc.text) // secrets that are added later are redacted too
			s.Add(secret)
		}
		if got := s.Redact(tc.text); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestUserInfo(t *testing.T) {
	for text, want := range map[string]string{
		"dev@https://me:canary@acme.io/a//b?ref=main":     "dev@https://(secret)@acme.io/a//b?ref=main",
		"https://canary@acme.io and HTTP://a:b@c@acme.io": "https://(secret)@acme.io and HTTP://(secret)@acme.io",
		"ssh://git@acme.io/a":                             "ssh://git@acme.io/a",
		"postgres://me:canary@db/x":                       "postgres://me:(secret)@db/x",
		"git@acme.io:a, me@acme.io, https://acme.io/a@b":  "git@acme.io:a, me@acme.io, https://acme.io/a@b",
	} {
		if got := redact.UserInfo(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
