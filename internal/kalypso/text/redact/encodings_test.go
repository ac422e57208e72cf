package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
)

// encodings are the forms in which a server may repeat a secret that it received.
var encodings = map[string]func(secret string) string{
	"no encoding": func(s string) string { return s },
	"Basic, padded": func(s string) string {
		h := http.Request{Header: http.Header{}}
		h.SetBasicAuth("", s)
		return h.Header.Get("Authorization")
	},
	"Basic, with a user": func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+s)) },
	"Basic, with a user of two letters more": func(s string) string {
		return "Authorization=Basic/" + base64.StdEncoding.EncodeToString([]byte("me-2:"+s))
	},
	"Base64 without padding": func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte("me:" + s)) },
	"Base64 for URLs": func(s string) string {
		return base64.URLEncoding.EncodeToString([]byte("\xfb\xff" + "me:" + s))
	},
	"Base64 of JSON": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(`{"user":"me","password":` + inJSON(s) + `,"more":"` +
			strings.Repeat("x", 40) + `"}`))
	},
	"Base64 in lines": func(s string) string {
		text := base64.StdEncoding.EncodeToString([]byte("me:" + s))
		return text[:len(text)/2] + "\r\n " + text[len(text)/2:]
	},
	"a query": url.QueryEscape,
	"a path":  url.PathEscape,
	"a URL": func(s string) string {
		return (&url.URL{Scheme: "https", Host: "x", User: url.UserPassword("me", s)}).String()
	},
	"escaped bytes in lower case": func(s string) string { return strings.ToLower(everyByte("%%%02X", s)) },
	"escaped bytes":               func(s string) string { return everyByte("%%%02X", s) },
	"escaped letters":             func(s string) string { return everyByte(`\u%04x`, s) },
	"bytes in YAML":               func(s string) string { return everyByte(`\x%02X`, s) },
	"letters in YAML":             func(s string) string { return everyByte(`\U%08x`, s) },
	"JSON":                        inJSON,
	"a URL in JSON":               func(s string) string { return inJSON(url.QueryEscape(s)) },
	"Basic in a query": func(s string) string {
		return url.QueryEscape("Basic " + base64.StdEncoding.EncodeToString([]byte(":"+s)))
	},
	"a quoted string of Go": func(s string) string { return fmt.Sprintf("%q", s) },
	"a folded header":       func(s string) string { return s[:len(s)/2] + "\r\n\t" + s[len(s)/2:] },
}

func everyByte(format, s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func inJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestEncodings checks that a redacted text contains no part of a secret, in whichever encoding the secret was in the
// text.
func TestEncodings(t *testing.T) {
	for _, secret := range []string{
		"abcd1234efgh5678ijkl9012mnop3456qrst7890uvwx1234yzab", // of Azure DevOps
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "pass word+1/2=3&4\"5<6>%41\\n", "p1%", "correct horse",
	} {
		for name, encode := range encodings {
			var s redact.Secrets
			s.Add("another secret of the provider", secret)
			const before, after = "HTTP 407 of the proxy (a/b+c): ", "; that is all (0123456789abcdef0123456789abcdef01234567)"
			got := s.Redact(before + encode(secret) + after)
			if !strings.Contains(got, redact.Redacted) || strings.Contains(got, secret) {
				t.Errorf("%s of %q: got %q", name, secret, got)
			}
			if !strings.HasSuffix(got, after) {
				t.Errorf("%s of %q: the text around it changed: %q", name, secret, got)
			}
			for _, part := range pieces(encode(secret)) {
				if strings.Contains(got, part) {
					t.Errorf("%s of %q: %q remains in %q", name, secret, part, got)
				}
			}
		}
	}
}

// pieces returns the two halves of the last word, if they are so long that they can't be in the text by chance.
func pieces(encoded string) []string {
	words := strings.FieldsFunc(encoded, func(r rune) bool { return strings.ContainsRune(" \r\n\t\":,/@", r) })
	last := strings.TrimRight(words[len(words)-1], "=")
	if len(last) < 24 {
		return nil
	}
	return []string{last[:len(last)/2], last[len(last)/2:]}
}

// TestHarmless checks that a text that contains no secret is not changed.
func TestHarmless(t *testing.T) {
	var s redact.Secrets
	s.Add("p1%", "token-of-the-host", "correct horse")
	for _, text := range []string{
		"", "a\nb\n", `{"message": "100%25 of \u0041 & <b>&amp;</b>"}`, "c2VjcmV0OmhhcmRseQ==", strings.Repeat("deadbeef", 5),
		"=?UTF-8?Q?caf=C3=A9?=\r\n", "https://acme.io/a+b%20c?d=e", "\xff\x00 %zz =zz \\z \\ud83d",
	} {
		if got := s.Redact(text); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("secret", "a%73ecret\nOnNlY3JldA==")
	f.Fuzz(func(_ *testing.T, secret, text string) {
		var s redact.Secrets
		s.Add(secret)
		s.Redact(text) // must end
	})
}

func BenchmarkRedact(b *testing.B) {
	var s redact.Secrets
	s.Add("ghp_16C7e42F292c6912E7710c838347Ae178B4a")
	text := strings.Repeat("Kustomization/flux-system/app: dev@sha1:5523a85f37d12c0c7c10ab6616644db089fcd6f7\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Redact(text)
	}
}
