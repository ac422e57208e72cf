package verify_test

import (
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// TestNamesOfSigners: the user ID of a key and the principal of a certificate may be any bytes. A signer, and a reason
// why a signature is not accepted, are text without control characters.
func TestNamesOfSigners(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"invalid UTF-8": "ann\xff\xfe", "escape": "ann\x1b[2J", "line break": "ann\nben", "bidirectional": "ann\u202e",
		"zero width": "ann\u200b", "half a character": "ann\xe2\x82", "Latin-1": "J\xfcrgen",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pgp := must(openpgp.NewEntity(text, "", "ann@acme.io", created(0)))
			expired := must(openpgp.NewEntity(text, "", "ann@acme.io", created(year/2)))
			certified := certify(edKey, caKey, func(c *ssh.Certificate) { c.ValidPrincipals = []string{text + "@acme.io"} })
			for kind, row := range map[string]row{
				"OpenPGP": {keys: verify.Arguments{OpenPGP: exported(pgp)}, raw: pgpSigned(pgp.PrivateKey, same),
					want: printable.Line(text) + " <ann@acme.io>"},
				"OpenPGP, expired": {keys: verify.Arguments{OpenPGP: exported(expired)},
					raw: pgpSigned(expired.PrivateKey, same), want: "expired"},
				"certificate": {keys: verify.Arguments{SSH: []string{"* cert-authority " + public(caKey)}},
					raw: sshSigned(certified, written), want: printable.Line(text) + "@acme.io"},
			} {
				v, ps := verify.New(row.keys)
				if len(ps) > 0 {
					t.Fatal(ps)
				}
				signer, err := v.Commit([]byte(row.raw), now)
				said := signer
				if err != nil {
					said = err.Error()
				}
				if said != printable.Line(said) || !strings.Contains(said, row.want) ||
					(err == nil) != (kind != "OpenPGP, expired") {
					t.Errorf("%s: the signer is %q, %v, want %q", kind, signer, err, row.want)
				}
			}
		})
	}
}
