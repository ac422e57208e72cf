package deployment_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// FuzzParseRevision: what a source reports is read as parts of its text: a branch, and a full hash in lower case, or
// none. The forms of Flux and Argo CD with these parts are read as the same parts.
func FuzzParseRevision(f *testing.F) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	for _, text := range []string{
		"", hash, "main@sha1:" + hash, "main/" + hash, "sha1:" + hash, "refs/heads/a/b@sha1:" + hash, "a@b@sha1:" + hash,
		"refs/heads/refs/heads/x@sha1:" + hash, "main@sha1:sha1:" + hash, strings.ToUpper(hash), "main@" + hash + "0",
		" main@sha1:" + hash + "\n", "main@sha256:" + hash, "@", "/", "1.2.3", "\xff@" + hash, "sha1:@/",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := deployment.ParseRevision(text)
		if !strings.Contains(text, r.Branch) || !strings.Contains(strings.ToLower(text), r.Hash) {
			t.Errorf("%q is read as %+v", text, r)
		}
		if r.Hash == "" {
			return
		}
		if len(r.Hash) != 40 || strings.Trim(r.Hash, "0123456789abcdef") != "" {
			t.Errorf("%q has the hash %q", text, r.Hash)
		}
		if again := deployment.ParseRevision("refs/heads/" + r.Branch + "@sha1:" + r.Hash); again != r {
			t.Errorf("%+v is read as %+v", r, again)
		}
	})
}
