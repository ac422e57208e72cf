package verify_test

import (
	"crypto"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
)

const ann = "ann@acme.io"

// row is a commit that is verified with a list of keys.
type row struct {
	name string
	keys verify.Arguments
	raw  string
	want string // the signer, or a part of the reason why the signature is rejected
	// stricter says what Git does instead, if Git accepts the commit and we reject it.
	stricter string
}

// sshRows returns commits that are signed with SSH keys, and commits with no, several or unknown signatures.
func sshRows() (rows []row) {
	add := func(name, signers, raw, want string) {
		rows = append(rows, row{name: name, keys: verify.Arguments{SSH: []string{signers}}, raw: raw, want: want})
	}
	good, plain := sshSigned(edKey, written), text(written)
	listed := ann + " " + public(edKey)
	in := func(options string) string { return ann + " " + options + " " + public(edKey) }

	add("Ed25519", listed, good, ann)
	add("ECDSA", ann+" "+public(ecKey), sshSigned(ecKey, written), ann)
	add("RSA", ann+" "+public(rsaKey), sshSigned(rsaKey, written), ann)
	add("SHA-256", listed, sign(plain, sshsig.Armor(must(sshsig.Sign(strings.NewReader(plain), edKey, sshsig.HashSHA256,
		"git")))), ann)
	add("SHA-1", ann+" "+public(rsaKey), sshSigned(sha1Signer{rsaKey}, written), "can't be read")
	add("not signed", listed, plain, "it is not signed")
	add("a key that is not in the list", listed, sshSigned(otherKey, written), "not in the list: SHA256:")
	add("the second key of the list", listed+"\nben@acme.io "+public(otherKey), sshSigned(otherKey, written),
		"ben@acme.io")
	add("signature for another namespace", listed, sign(plain, sshSignature(plain, edKey, "file")),
		"for another purpose than Git")
	add("signature for the namespace git with a blank", listed, sign(plain, sshSignature(plain, edKey, "git ")),
		"for another purpose")
	for name, change := range map[string][2]string{
		"message": {"A message", "Another message"}, "tree": {"tree 4b", "tree 5b"}, "time": {"+0200", "+0300"},
		"author": {"author Ann", "author Ben"},
	} {
		add("the "+name+" was changed", listed, strings.Replace(good, change[0], change[1], 1), "differs from what "+ann)
	}
	add("a header was added", listed, strings.Replace(good, "\ngpgsig", "\nencoding latin1\ngpgsig", 1), "differs from")
	add("a parent was added", listed, strings.Replace(good, "\nauthor", "\nparent "+strings.Repeat("a", 40)+"\nauthor", 1),
		"differs from")
	add("the signature of a commit of the same second", listed,
		sign(plain, sshSignature(text(written.Add(1)), edKey, "git")), ann)
	add("the signature of a later commit", listed,
		sign(plain, sshSignature(text(written.Add(time.Second)), edKey, "git")), "differs from")

	merge := commitText("parent "+strings.Repeat("a", 40)+"\nparent "+strings.Repeat("b", 40)+"\n",
		"committer GitHub <noreply@github.com> 1717236000 +0000\n",
		"mergetag object "+strings.Repeat("b", 40)+"\n type commit\n tag v1\n tagger Ben <b@acme.io> 1 +0000\n \n tree x\n")
	add("a merge of a tag", listed, sign(merge, sshSignature(merge, edKey, "git")), ann)
	add("a merge whose tag was changed", listed, strings.Replace(sign(merge, sshSignature(merge, edKey, "git")), " tag v1",
		" tag v2", 1), "differs from")
	noCommitter := commitText("", "", "")
	add("no committer", listed, sign(noCommitter, sshSignature(noCommitter, edKey, "git")), "no committer with a time")
	noMessage := strings.TrimSuffix(plain, "A message\n\ngpgsig is no header here\n")
	add("no message", listed, sign(noMessage, sshSignature(noMessage, edKey, "git")), ann)
	add("a signature for SHA-256 repos beside ours", listed, strings.Replace(good, "\ngpgsig ",
		"\ngpgsig-sha256 -----BEGIN\n tree x\n more\ngpgsig ", 1), ann)
	add("a header that looks like a signature", listed, strings.Replace(good, "\ngpgsig ", "\ngpgsigs x\ngpgsig ", 1), ann)
	add("a damaged signature", listed, strings.Replace(good, "\n U1NIU0lH", "\n AAAAAAAA", 1), "can't be read")
	add("an empty signature", listed, strings.Replace(plain, "\n\n", "\ngpgsig \n\n", 1), "neither of SSH nor of OpenPGP")
	add("S/MIME", listed, sign(plain, []byte("-----BEGIN SIGNED MESSAGE-----\nAAAA\n-----END SIGNED MESSAGE-----")),
		"neither of SSH nor of OpenPGP")
	add("an OpenPGP signature for a list of SSH keys", listed, pgpSigned(entity(0).PrivateKey, same), "not in the list: ")

	add("valid after an earlier time", in(`valid-after="20240601115959Z"`), good, ann)
	add("valid after the same time", in(`valid-after="20240601120000"`), good, ann)
	add("valid after a later time", in(`valid-after="20240601120001"`), good, "not valid yet at the time of the commit")
	add("valid before a later time", in(`valid-before="202406011201"`), good, ann)
	add("valid before the same time", in(`valid-before="20240601120000Z"`), good, ann)
	add("valid before an earlier time", in(`valid-before="20240601"`), good, "not valid any more")
	add("valid between two times", in(`valid-after="20240101",valid-before="20250101"`), good, ann)
	add("valid between two times, commit after both", in(`valid-after="20240101",valid-before="20250101"`),
		sshSigned(edKey, time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)), "not valid any more")
	add("expired key that is valid in another line", in(`valid-before="20240101"`)+"\n"+in(`valid-after="20240101"`),
		good, ann)
	add("expired key that is valid for another person", in(`valid-before="20240101"`)+"\nben@acme.io "+public(edKey),
		good, "ben@acme.io")
	add("key for the namespace git", in(`namespaces="git"`), good, ann)
	add("key for several namespaces", in(`namespaces="file,g?t"`), good, ann)
	add("key for another namespace", in(`namespaces="file"`), good, "not for the namespace git")
	add("key for all namespaces except git", in(`namespaces="*,!git"`), good, "not for the namespace git")
	add("a pattern of principals", "*@acme.io "+public(edKey), good, "*@acme.io")
	add("several principals", "ann,"+ann+" "+public(edKey), good, "ann")
	add("principals in quotation marks", `"`+ann+`" `+public(edKey), good, ann)
	add("only a negated principal", "!"+ann+" "+public(edKey), good, "not for the namespace git")
	add("two people with the same key, first line not for Git", in(`namespaces="file"`)+"\nben@acme.io "+public(edKey),
		good, "not for the namespace")
	add("two lines for the same person, first line not for Git", in(`namespaces="file"`)+"\n*@acme.io "+public(edKey),
		good, ann)
	add("a CA for the same person in another line", "*@acme.io cert-authority "+public(otherKey)+"\n"+listed, good, ann)
	add("comments and blank lines", "# people\n\n  "+listed+" a laptop\n", good, ann)
	add("a CA that signs the commit itself", in("cert-authority"), good, "not in the list")

	rows = append(rows, row{name: "two signatures", keys: verify.Arguments{SSH: []string{listed}},
		raw:  sign(good, sshSignature(plain, edKey, "git")),
		want: "several signatures", stricter: "ssh-keygen reads the first"})
	revoked := func(name, raw, want string, lines ...string) {
		keys := verify.Arguments{
			SSH:     []string{listed + "\n* cert-authority " + public(caKey), "ben@acme.io " + public(rsaKey)},
			Revoked: []string{strings.Join(lines, "\n")},
		}
		rows = append(rows, row{name: name, keys: keys, raw: raw, want: want})
	}
	certified := sshSigned(certify(otherKey, caKey, func(*ssh.Certificate) {}), written)
	revoked("a revoked key", good, "with a revoked key", "# lost", public(edKey))
	revoked("another revoked key", good, ann, public(otherKey))
	revoked("the second of two revoked keys", good, "with a revoked key", public(otherKey), public(edKey)+" laptop")
	revoked("a revoked CA", certified, "with a revoked key", public(caKey))
	revoked("a revoked key with a certificate", certified, "with a revoked key", public(otherKey))
	return append(rows, certificateRows()...)
}

// certificateRows returns commits that are signed with SSH certificates.
func certificateRows() (rows []row) {
	add := func(name, signers, want string, change func(*ssh.Certificate)) {
		rows = append(rows, row{name: "certificate: " + name, keys: verify.Arguments{SSH: []string{signers}},
			raw: sshSigned(certify(edKey, caKey, change), written), want: want})
	}
	unix := func(t time.Time) uint64 { return uint64(t.Unix()) }
	listed := "*@acme.io cert-authority " + public(caKey)
	keep := func(*ssh.Certificate) {}
	add("valid certificate", listed, ann, keep)
	add("CA that is not in the list", "*@acme.io cert-authority "+public(otherKey), "not in the list", keep)
	add("CA without the option cert-authority", "*@acme.io "+public(caKey), "not in the list", keep)
	add("certified key in the list, but not its CA", ann+" "+public(edKey), "not in the list", keep)
	add("principal that is not in the list", "ben@acme.io cert-authority "+public(caKey), "has no principal", keep)
	add("principal that only the second line has", "ben@acme.io cert-authority "+public(caKey)+"\n"+listed, ann, keep)
	add("second principal", "ben@* cert-authority "+public(caKey), "ben@acme.io",
		func(c *ssh.Certificate) { c.ValidPrincipals = append(c.ValidPrincipals, "ben@acme.io") })
	add("no principals", listed, "has no principal", func(c *ssh.Certificate) { c.ValidPrincipals = nil })
	add("expired", listed, "not valid at the time", func(c *ssh.Certificate) { c.ValidBefore = unix(written) })
	add("expired after the commit", listed, ann, func(c *ssh.Certificate) { c.ValidBefore = unix(written) + 1 })
	add("not yet valid", listed, "not valid at the time", func(c *ssh.Certificate) { c.ValidAfter = unix(written) + 1 })
	add("valid since the commit", listed, ann, func(c *ssh.Certificate) { c.ValidAfter = unix(written) })
	add("host certificate", listed, "the certificate of a host", func(c *ssh.Certificate) { c.CertType = ssh.HostCert })
	add("certificate for one command", listed, ann, func(c *ssh.Certificate) {
		c.CriticalOptions = map[string]string{"force-command": "true"}
	})
	add("CA that was not yet valid", `*@acme.io cert-authority,valid-after="20250101" `+public(caKey),
		"not valid yet", keep)
	add("CA that is not for Git", `*@acme.io cert-authority,namespaces="file" `+public(caKey),
		"not for the namespace git", keep)
	var given *ssh.Certificate
	forged := certify(edKey, caKey, func(c *ssh.Certificate) { given = c })
	given.ValidPrincipals[0] = "root@acme.io"
	rows = append(rows, row{name: "certificate: principal changed after it was signed",
		keys: verify.Arguments{SSH: []string{listed}},
		raw:  sshSigned(forged, written), want: "is invalid"})
	return rows
}

// pgpRows returns commits that are signed with OpenPGP keys.
func pgpRows() (rows []row) {
	const signer = "Ann <ann@acme.io>"
	add := func(name, raw, want, stricter string, keys ...*openpgp.Entity) {
		rows = append(rows, row{name: "OpenPGP: " + name, keys: verify.Arguments{OpenPGP: exported(keys...)}, raw: raw,
			want: want, stricter: stricter})
	}
	plain, good, other := text(written), entity(0), entity(0)
	add("Ed25519", pgpSigned(good.PrivateKey, same), signer, "", good)
	for name, config := range map[string]*packet.Config{
		"RSA":   {Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048},
		"ECDSA": {Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveNistP256},
	} {
		config.Time = created(0).Time
		key := must(openpgp.NewEntity("Ann", "", ann, config))
		add(name, pgpSigned(key.PrivateKey, same), signer, "", key)
	}
	add("SHA-512", pgpSigned(good.PrivateKey, func(s *packet.Signature) { s.Hash = crypto.SHA512 }), signer, "", good)
	add("SHA-1", pgpSigned(good.PrivateKey, func(s *packet.Signature) { s.Hash = crypto.SHA1 }), "with SHA-1",
		"gpg accepts SHA-1", good)
	add("signature of a text", pgpSigned(good.PrivateKey, func(s *packet.Signature) { s.SigType = packet.SigTypeText }),
		signer, "", good)
	add("a key that is not in the list", pgpSigned(other.PrivateKey, same), "not in the list: ", "", good)
	add("the second key", pgpSigned(other.PrivateKey, same), signer, "", good, other)
	add("changed message", strings.Replace(pgpSigned(good.PrivateKey, same), "A message", "B", 1), "differs from", "",
		good)
	add("signature of another commit", sign(plain, pgpSignature(plain+"\n", good.PrivateKey, same)), "differs from", "",
		good)
	add("two signatures in a block", sign(plain, armoured(openpgp.SignatureType, func(w io.Writer) error {
		for range 2 {
			s := &packet.Signature{Version: 4, SigType: packet.SigTypeBinary, PubKeyAlgo: good.PrivateKey.PubKeyAlgo,
				Hash: crypto.SHA256, CreationTime: now, IssuerKeyId: &good.PrivateKey.KeyId}
			h := s.Hash.New()
			must(io.WriteString(h, plain))
			if err := s.Sign(h, good.PrivateKey, nil); err != nil {
				return err
			}
			if err := s.Serialize(w); err != nil {
				return err
			}
		}
		return nil
	})), "can't be read", "", good)
	add("block without a signature", sign(plain,
		[]byte("-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----")),
		"can't be read", "", good)
	lifetime := func(d time.Duration) func(*packet.Signature) {
		return func(s *packet.Signature) { s.SigLifetimeSecs = new(uint32(d.Seconds())) }
	}
	add("a signature that expired", pgpSigned(good.PrivateKey, lifetime(time.Minute)), "the signature has expired", "",
		good)
	add("a signature that will expire", pgpSigned(good.PrivateKey, lifetime(2*time.Hour)), signer, "", good)
	add("signed in the future", pgpSigned(good.PrivateKey, func(s *packet.Signature) {
		s.CreationTime = now.Add(time.Hour)
	}), signer, "", good)
	add("signed before the key was made", pgpSigned(good.PrivateKey, func(s *packet.Signature) {
		s.CreationTime = now.Add(-2 * year)
	}), "older than the key", "", good)
	expired, fresh := entity(time.Hour), entity(2*year)
	add("signed before the key expired", pgpSigned(expired.PrivateKey, func(s *packet.Signature) {
		s.CreationTime = now.Add(-year + time.Minute)
	}), "whose key has expired", "", expired)
	add("a key that will expire", pgpSigned(fresh.PrivateKey, same), signer, "", fresh)
	for name, reason := range map[string]packet.ReasonForRevocation{
		"retired": packet.KeyRetired, "compromised": packet.KeyCompromised,
	} {
		revoked := entity(0)
		at := &packet.Config{Time: func() time.Time { return now.Add(-time.Hour) }}
		if err := revoked.RevokeKey(reason, "", at); err != nil {
			panic(err)
		}
		add("a revoked key, "+name, pgpSigned(revoked.PrivateKey, same), "whose key is revoked", "", revoked)
	}
	sub := func(lifetime time.Duration) *openpgp.Entity {
		e := entity(0)
		if err := e.AddSigningSubkey(created(lifetime)); err != nil {
			panic(err)
		}
		return e
	}
	last := func(e *openpgp.Entity) *openpgp.Subkey { return &e.Subkeys[len(e.Subkeys)-1] }
	signs, over, gone := sub(0), sub(time.Hour), sub(0)
	add("a subkey", pgpSigned(last(signs).PrivateKey, same), signer, "", signs)
	add("the primary key beside a subkey", pgpSigned(signs.PrivateKey, same), signer, "", signs)
	add("an expired subkey", pgpSigned(last(over).PrivateKey, same), "whose key has expired", "", over)
	add("the primary key of an expired subkey", pgpSigned(over.PrivateKey, same), signer, "", over)
	if err := gone.RevokeSubkey(last(gone), packet.KeyRetired, "", &packet.Config{Time: created(0).Time}); err != nil {
		panic(err)
	}
	add("a revoked subkey", pgpSigned(last(gone).PrivateKey, same), "whose key is revoked", "", gone)
	overall := entity(time.Hour)
	if err := overall.AddSigningSubkey(created(0)); err != nil {
		panic(err)
	}
	add("a subkey of an expired key", pgpSigned(last(overall).PrivateKey, same), "whose key has expired", "", overall)
	certifies := entity(0)
	for _, identity := range certifies.Identities {
		identity.SelfSignature.FlagSign = false
		if err := identity.SelfSignature.SignUserId(identity.UserId.Id, certifies.PrimaryKey, certifies.PrivateKey,
			created(0)); err != nil {
			panic(err)
		}
	}
	add("a key that may only certify", pgpSigned(certifies.PrivateKey, same), "whose key may not sign", "",
		certifies)
	extended, shortened, unnamed, noFlags := entity(time.Hour), entity(0), entity(0), entity(0)
	selfSign := func(e *openpgp.Entity, change func(*packet.Signature)) {
		for _, identity := range e.Identities {
			s := *identity.SelfSignature
			s.CreationTime = now.Add(-time.Hour)
			change(&s)
			if err := s.SignUserId(identity.UserId.Id, e.PrimaryKey, e.PrivateKey, nil); err != nil {
				panic(err)
			}
			identity.Signatures = append(identity.Signatures, &s)
		}
	}
	selfSign(extended, func(s *packet.Signature) { s.KeyLifetimeSecs = nil })
	selfSign(shortened, func(s *packet.Signature) { s.KeyLifetimeSecs = new(uint32(3600)) })
	selfSign(unnamed, func(s *packet.Signature) { s.SigType = packet.SigTypeCertificationRevocation })
	selfSign(noFlags, func(s *packet.Signature) { s.FlagsValid = false })
	add("a key whose lifetime was extended", pgpSigned(extended.PrivateKey, same), signer, "", extended)
	add("a key whose lifetime was shortened", pgpSigned(shortened.PrivateKey, same), "whose key has expired", "",
		shortened)
	add("a key whose user ID is revoked", pgpSigned(unnamed.PrivateKey, same), "whose key is revoked",
		"gpg shows the user ID, and lets the key sign", unnamed)
	add("a key without flags for its use", pgpSigned(noFlags.PrivateKey, same), signer, "", noFlags)
	return append(rows, row{name: "OpenPGP: an SSH signature", keys: verify.Arguments{OpenPGP: exported(good)},
		raw: sshSigned(edKey, written), want: "not in the list: SHA256:"})
}

// TestCommit compares our verdict on each commit with the verdict of git verify-commit, ssh-keygen and gpg.
func TestCommit(t *testing.T) {
	rows := slices.Concat(sshRows(), pgpRows())
	if len(rows) < 60 {
		t.Errorf("there are only %d rows", len(rows))
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v, ps := verify.New(row.keys)
			if len(ps) > 0 {
				t.Fatal(ps)
			}
			signer, err := v.Commit([]byte(row.raw), now)
			if err == nil && signer != row.want || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %q (%v), want %q", signer, err, row.want)
			}
			accepted, out := newRepo(t, row.keys).judge(t, row.raw)
			if want := err == nil || row.stricter != ""; accepted != want {
				t.Errorf("got %q (%v), but git verify-commit accepts it: %v\n%s", signer, err, accepted, out)
			}
		})
	}
}

// TestNewErrors: each error names its line, and contains no part of a key.
func TestNewErrors(t *testing.T) {
	key := public(edKey)
	_, encoded, _ := strings.Cut(key, " ")
	cert := certify(edKey, caKey, func(*ssh.Certificate) {})
	private := string(armoured(openpgp.PrivateKeyType, func(w io.Writer) error {
		return entity(0).SerializePrivateWithoutSigning(w, nil)
	}))
	whole := exported(entity(0))[0]
	for _, test := range []struct {
		name string
		keys verify.Arguments
		at   string
		want string
	}{
		{"no keys", verify.Arguments{Revoked: []string{key}}, "", "verify lists no key"},
		{"path instead of the content", verify.Arguments{SSH: []string{"~/.ssh/allowed_signers"}}, "ssh[0]",
			"line 1 is not <principals>"},
		{"invalid UTF-8", verify.Arguments{SSH: []string{"a " + key, "# none\na\xff@acme.io " + key}}, "ssh[1]",
			"line 2 is not valid UTF-8"},
		{"invalid UTF-8 in quotation marks", verify.Arguments{SSH: []string{"\"a b\xc3\" " + key}}, "ssh[0]",
			"line 1 is not valid UTF-8"},
		{"invalid UTF-8 in an option", verify.Arguments{SSH: []string{"a namespaces=\"git,\xe9\" " + key}}, "ssh[0]",
			"line 1 is not valid UTF-8"},
		{"invalid UTF-8 in a comment", verify.Arguments{SSH: []string{"# M\xfcller\na " + key}}, "ssh[0]",
			"line 1 is not valid UTF-8"},
		{"invalid UTF-8 in a revoked key", verify.Arguments{SSH: []string{"a " + key}, Revoked: []string{key + " M\xfcller"}},
			"revoked[0]", "line 1 is not valid UTF-8"},
		{"only a comment", verify.Arguments{SSH: []string{" \n# none\n"}}, "ssh[0]", "it contains no key"},
		{"a key without principals", verify.Arguments{SSH: []string{"a " + key + "\n" + key}}, "ssh[0]", "line 2 is not"},
		{"a damaged key", verify.Arguments{SSH: []string{"a " + strings.Replace(key, "AAAA", "AAAB", 1)}}, "ssh[0]",
			"line 1 is not"},
		{"half a key", verify.Arguments{SSH: []string{"a " + key[:40]}}, "ssh[0]", "line 1 is not"},
		{"the base64 of a key as an option", verify.Arguments{SSH: []string{"a " + encoded + " " + key}}, "ssh[0]",
			"line 1 is not"},
		{"an unknown option", verify.Arguments{SSH: []string{"a no-touch-required " + key}}, "ssh[0]",
			"line 1 has an unknown option or value: no-touch-required"},
		{"an option without quotation marks", verify.Arguments{SSH: []string{"a namespaces=git " + key}}, "ssh[0]",
			"line 1 has an unknown option or value: namespaces"},
		{"an option twice", verify.Arguments{SSH: []string{"a cert-authority,cert-authority " + key}}, "ssh[0]",
			"line 1 has the option cert-authority twice"},
		{"invalid time", verify.Arguments{SSH: []string{`a valid-after="2024-06-01" ` + key}}, "ssh[0]",
			"line 1 has an invalid valid-after"},
		{"times in the wrong order", verify.Arguments{SSH: []string{`a valid-after="2025",valid-before="20240101" ` + key,
			`a valid-after="20250101",valid-before="20240101" ` + key}}, "ssh[1]", "line 1 has a valid-before that is not"},
		{"a certificate", verify.Arguments{SSH: []string{"a " + public(cert)}}, "ssh[0]", "line 1 is a certificate"},
		{"a private key of SSH", verify.Arguments{SSH: []string{
			"-----BEGIN OPENSSH PRIVATE KEY-----\n" + encoded + "\n-----END OPENSSH PRIVATE KEY-----"}}, "ssh[0]",
			"it contains a private key"},
		{"a private key of OpenPGP", verify.Arguments{OpenPGP: []string{private}}, "openpgp[0]", "it contains a private key"},
		{"no armour", verify.Arguments{OpenPGP: []string{"maintainers.asc"}}, "openpgp[0]", "it is not a public key in"},
		{"a key of SSH", verify.Arguments{OpenPGP: []string{key}}, "openpgp[0]", "it is not a public key in"},
		{"half a block", verify.Arguments{OpenPGP: []string{whole, whole[:len(whole)/2]}}, "openpgp[1]", "it is damaged"},
		{"revoked key with options", verify.Arguments{SSH: []string{"a " + key}, Revoked: []string{"cert-authority " + key}},
			"revoked[0]", "line 1 is not <type of the key>"},
		{"revoked fingerprint", verify.Arguments{SSH: []string{"a " + key}, Revoked: []string{"SHA256:abc"}},
			"revoked[0]", "line 1 is not <type of the key>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, errs := verify.New(test.keys)
			if len(errs) == 0 {
				t.Fatal("verify.New returns no error")
			}
			err := errs[len(errs)-1]
			at := ""
			if err.Argument != "" {
				at = fmt.Sprintf("%s[%d]", err.Argument, err.Index)
			}
			if at != test.at || !strings.HasPrefix(err.Reason, test.want) {
				t.Errorf("at %q: %s", at, err.Reason)
			}
			for _, text := range slices.Concat(test.keys.SSH, test.keys.OpenPGP, test.keys.Revoked) {
				for word := range strings.FieldsSeq(text) {
					if len(word) > 20 && !strings.HasPrefix(word, "-----") && strings.Contains(err.Reason, word) {
						t.Errorf("the error shows %s", word)
					}
				}
			}
		})
	}
}
