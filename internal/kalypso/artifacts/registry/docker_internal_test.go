package registry

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// FuzzDockerConfig: Docker's config file gives a registry the credential of an entry for this registry, or a reason
// that repeats no password of the file. A password that it gives is redacted from then on.
func FuzzDockerConfig(f *testing.F) {
	const host = "registry.acme.io"
	for _, text := range []string{
		`{"auths":{"registry.acme.io":{"auth":"YW5uOmNhbmFyeS1wYXNzd29yZA=="}}}`,
		`{"auths":{"https://registry.acme.io/v1/":{"username":"ann","password":"canary-password"}}}`,
		`{"auths":{"registry.acme.io":{"auth":"not base64: canary"}}}`, `{"auths":{"registry.acme.io":{"auth":"YW5u"}}}`,
		`{"auths":{"registry.acme.io":{"identitytoken":"canary-token"}}}`, `{"auths":{"registry.acme.io":null}}`,
		`{"auths":{"other.io":{"auth":"YW5uOmNhbmFyeS1wYXNzd29yZA=="}}}`, `{"auths":[]}`, `{} {}`, `null`, ``,
		`{"credsStore":"none"}`, `{"credHelpers":{"registry.acme.io":"../../none"}}`,
	} {
		f.Add(text)
	}
	folder := f.TempDir()
	f.Setenv("DOCKER_CONFIG", folder)
	f.Setenv("PATH", f.TempDir()) // a config may name any program
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := New(nil, httpapi.Access{})
		found, err := c.fromDocker(t.Context(), host)
		if err != nil {
			if found != auth.EmptyCredential || !errors.Is(err, errDocker) && !errors.Is(err, ErrNoCredential) {
				t.Errorf("%v, with the credential %v", err, found)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats the file: %v", err)
			}
			return
		}
		var config struct{ Auths map[string]any }
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			t.Errorf("%q is no config, but has the credential %v", text, found)
		}
		matches := false
		for server := range config.Auths {
			matches = matches || strings.Contains(strings.ToLower(server), host)
		}
		if !matches {
			t.Errorf("%q has a credential for %s", text, host)
		}
		for _, secret := range []string{found.Password, found.RefreshToken, found.AccessToken} {
			if len(secret) > 8 && strings.Contains(c.access.Secrets.Redact("said: "+secret), secret) {
				t.Errorf("%q is not redacted", secret)
			}
		}
	})
}
