package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const fuzzedKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5hzVHoVxtQ+gU0fHgyvm6S5vTFgW7P7xLkTn+aZ+zs"

// FuzzCommit: no commit is accepted without a key that signed it, whatever its bytes are.
func FuzzCommit(f *testing.F) {
	v, errs := verify.New(verify.Arguments{SSH: []string{"a@acme.io " + fuzzedKey}})
	if len(errs) > 0 {
		f.Fatal(errs[0])
	}
	repo := gitserver.InitBare(f)
	gitserver.Seed(f, repo, "main", map[string]string{"a": "1"})
	raw := gitserver.Git(f, repo, "cat-file", "commit", "main")
	header, message, _ := strings.Cut(raw, "\n\n")
	f.Add([]byte(raw))
	for _, kind := range []string{"SSH", "PGP"} {
		f.Add([]byte(header + "\ngpgsig -----BEGIN " + kind + " SIGNATURE-----\n U1NIU0lHAAAAAQ==\n -----END " + kind +
			" SIGNATURE-----\n\n" + message))
	}
	f.Add([]byte("gpgsig \n gpgsig-sha256 \n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if signer, err := v.Commit(raw, time.Unix(1_700_000_000, 0)); err == nil {
			t.Errorf("%q is accepted as signed by %s", raw, signer)
		}
	})
}

// FuzzSigners: a list of signers is accepted, or has an error that contains no part of it.
func FuzzSigners(f *testing.F) {
	for _, line := range []string{
		"a@acme.io " + fuzzedKey, `a,b valid-after="20240101",namespaces="git" ` + fuzzedKey, "# comment",
		"* cert-authority " + fuzzedKey, `a valid-before="x" ` + fuzzedKey, "a ssh-ed25519 AAAA",
		"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ==\n",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range []verify.Arguments{{SSH: []string{text}}, {OpenPGP: []string{text}}, {Revoked: []string{text}}} {
			v, errs := verify.New(a)
			for _, err := range errs {
				if err.Reason == "" || len(text) > 100 && strings.Contains(err.Reason, text) {
					t.Errorf("%q: %q", text, err.Reason)
				}
			}
			if _, err := v.Commit([]byte("tree 0\n\nx\n"), time.Unix(1_700_000_000, 0)); err == nil {
				t.Errorf("with %q, a commit without a signature is accepted", text)
			}
		}
	})
}
