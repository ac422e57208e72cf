package githubfake_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// An app gets a token only for its own installation, with its own signature and in the validity period. The token
// expires.
func TestApp(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	s := githubfake.New(t, hostfake.WithClock(func() time.Time { return now }))
	s.AddRepo(t, "acme/gitops")
	app, other := s.AddApp(t), s.AddApp(t)
	tokens := "v3/app/installations/" + app.InstallationID + "/access_tokens"
	for name, tc := range map[string]struct {
		header, path, said string
		id, key            *githubfake.App
		issued, expires    time.Duration
		status             int
	}{
		"another key": {id: app, key: other, expires: time.Minute, status: 401, said: "could not be decoded"},
		"another algorithm": {header: `{"alg":"none"}`, id: app, key: app, expires: time.Minute, status: 401,
			said: "could not be decoded"},
		"issued later": {id: app, key: app, issued: time.Second, expires: time.Minute, status: 401, said: "iat"},
		"expired":      {id: app, key: app, issued: -time.Minute, status: 401, said: "exp"},
		"too long":     {id: app, key: app, expires: 601 * time.Second, status: 401, said: "too far"},
		"another installation": {path: "v3/app/installations/1/access_tokens", id: app, key: app, expires: time.Minute,
			status: 404, said: "Not Found"},
		"right": {id: app, key: app, expires: 10 * time.Minute, status: 201,
			said: `"expires_at":"2030-01-01T13:00:00Z"`},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.header == "" {
				tc.header = `{"alg":"RS256","typ":"JWT"}`
			}
			if tc.path == "" {
				tc.path = tokens
			}
			claims := fmt.Sprintf(`{"iss":%q,"iat":%d,"exp":%d}`, tc.id.ID, now.Add(tc.issued).Unix(),
				now.Add(tc.expires).Unix())
			caller{t, s, signed(t, tc.key, tc.header, claims)}.expect(tc.status, tc.said, "POST", tc.path, nil)
		})
	}
	claims := fmt.Sprintf(`{"iss":%q,"iat":%d,"exp":%d}`, app.ID, now.Unix(), now.Add(time.Minute).Unix())
	given, _ := caller{t, s, signed(t, app, `{"alg":"RS256"}`, claims)}.expect(201, "", "POST", tokens,
		nil)["token"].(string)
	c := caller{t, s, given}
	c.expect(200, "", "GET", pulls, nil)
	now = now.Add(time.Hour)
	c.expect(401, "Bad credentials", "GET", pulls, nil)
	caller{t, s, "nonsense"}.expect(401, "could not be decoded", "POST", tokens, nil)
}

func signed(t *testing.T, app *githubfake.App, header, claims string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(app.PrivateKey))
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(claims))
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}
