package registry_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
)

// FuzzRepository: a repository is parsed to the same one again from its text.
func FuzzRepository(f *testing.F) {
	for _, text := range []string{
		"oci://ghcr.io/acme/fleet", "oci://localhost:5000/a", "oci://acme.io/A", "oci://acme.io/a:tag", "oci://u:p@acme.io/a",
		"oci://acme.io/a@sha256:00", "https://acme.io/a", "oci://[::1]:5000/a/b", "oci://acme.io//a", "oci://acme.io/a/../b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := registry.ParseRepository(text)
		if err != nil {
			return
		}
		if again, err := registry.ParseRepository("oci://" + at.String()); err != nil || again.String() != at.String() {
			t.Errorf("%q is %q, and then %q: %v", text, at, again, err)
		}
	})
}
