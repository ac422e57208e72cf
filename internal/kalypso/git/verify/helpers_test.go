package verify_test

import (
	"bytes"
	"compress/zlib"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // Git's hashes
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/signingkey"
)

var (
	now     = time.Now().Truncate(time.Second)
	written = time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC) // time of the commits, unless a test passes another time
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// SSH keys of the tests.
var (
	edKey    = must(ssh.NewSignerFromKey(must2(ed25519.GenerateKey(nil))))
	otherKey = must(ssh.NewSignerFromKey(must2(ed25519.GenerateKey(nil))))
	caKey    = must(ssh.NewSignerFromKey(must2(ed25519.GenerateKey(nil))))
	ecKey    = must(ssh.NewSignerFromKey(must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))))
	rsaKey   = must(ssh.NewSignerFromKey(must(rsa.GenerateKey(rand.Reader, 2048))))
)

func must2(_ ed25519.PublicKey, private ed25519.PrivateKey, err error) ed25519.PrivateKey {
	return must(private, err)
}

// public returns the public key as a line of an authorized_keys file.
func public(key ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey())))
}

// certify returns a key with a certificate that the CA signed. The function changes the certificate before.
func certify(key, ca ssh.Signer, change func(*ssh.Certificate)) ssh.Signer {
	c := &ssh.Certificate{
		Key: key.PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{"ann@acme.io"},
		ValidBefore: ssh.CertTimeInfinity,
	}
	change(c)
	c.Nonce, c.SignatureKey = []byte(rand.Text()), ca.PublicKey()
	// Do not use SignCert, which refuses a certificate without principals. Other programs make such certificates.
	withoutSignature := bytes.TrimSuffix(c.Marshal(), []byte{0, 0, 0, 0})
	c.Signature = must(ca.Sign(rand.Reader, withoutSignature))
	return must(ssh.NewCertSigner(c, key))
}

// sha1Signer signs with an RSA key and SHA-1.
type sha1Signer struct{ ssh.Signer }

func (s sha1Signer) SignWithAlgorithm(random io.Reader, data []byte, _ string) (*ssh.Signature, error) {
	signer, ok := s.Signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("the key has one algorithm")
	}
	return signer.SignWithAlgorithm(random, data, ssh.KeyAlgoRSA)
}

// text returns a commit without a signature, which was committed at a time.
func text(when time.Time) string {
	return commitText("", "committer Ann <ann@acme.io> "+fmt.Sprint(when.Unix())+" +0200\n", "")
}

func commitText(parents, committer, headers string) string {
	return "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" + parents +
		"author Ann <ann@acme.io> 1717236000 +0000\n" + committer + headers + "\nA message\n\ngpgsig is no header here\n"
}

// sign adds a signature to the text of a commit.
func sign(text string, signature []byte) string {
	headers, message, _ := strings.Cut(text, "\n\n")
	return headers + "\ngpgsig " + strings.ReplaceAll(strings.TrimSpace(string(signature)), "\n", "\n ") + "\n\n" + message
}

// sshSignature signs a text in a namespace.
func sshSignature(text string, key ssh.Signer, namespace string) []byte {
	return sshsig.Armor(must(sshsig.Sign(strings.NewReader(text), key, sshsig.HashSHA512, namespace)))
}

// sshSigned returns a commit of a time with the signature of an SSH key.
func sshSigned(key ssh.Signer, when time.Time) string {
	return sign(text(when), sshSignature(text(when), key, "git"))
}

// entity returns an OpenPGP key that was made a year ago and is valid for the lifetime. 0 means for ever.
func entity(lifetime time.Duration) *openpgp.Entity {
	return must(openpgp.NewEntity("Ann", "", "ann@acme.io", created(lifetime)))
}

func created(lifetime time.Duration) *packet.Config {
	return &packet.Config{
		Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return now.Add(-365 * 24 * time.Hour) },
		KeyLifetimeSecs: uint32(lifetime.Seconds()),
	}
}

// year is the age of the OpenPGP keys.
const year = 365 * 24 * time.Hour

// pgpSignature signs a text with a key.
func pgpSignature(text string, key *packet.PrivateKey, change func(*packet.Signature)) []byte {
	s := &packet.Signature{
		Version: 4, SigType: packet.SigTypeBinary, PubKeyAlgo: key.PubKeyAlgo, Hash: crypto.SHA256,
		CreationTime: now.Add(-time.Hour), IssuerKeyId: &key.KeyId,
	}
	change(s)
	h := s.Hash.New()
	signed := io.Writer(h)
	if s.SigType == packet.SigTypeText {
		signed = openpgp.NewCanonicalTextHash(h)
	}
	must(io.WriteString(signed, text))
	if err := s.Sign(h, key, &packet.Config{NonDeterministicSignaturesViaNotation: new(false)}); err != nil {
		panic(err)
	}
	return armoured(openpgp.SignatureType, s.Serialize)
}

func pgpSigned(key *packet.PrivateKey, change func(*packet.Signature)) string {
	return sign(text(written), pgpSignature(text(written), key, change))
}

func same(*packet.Signature) {}

func armoured(kind string, write func(io.Writer) error) []byte {
	var b bytes.Buffer
	w := must(armor.Encode(&b, kind, nil))
	if err := write(w); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func exported(entities ...*openpgp.Entity) (all []string) {
	for _, e := range entities {
		all = append(all, string(armoured(openpgp.PublicKeyType, e.Serialize)))
	}
	return all
}

// judgingRepo is a repo in which Git verifies commits by a list of keys, with ssh-keygen and gpg.
type judgingRepo struct {
	repo string
	args []string
	env  []string
}

func newRepo(t *testing.T, a verify.Arguments) *judgingRepo {
	t.Helper()
	signingkey.SSHKeygen.Find(t, "ssh-keygen")
	dir := t.TempDir()
	r := &judgingRepo{repo: gitserver.InitBare(t), env: append(gitserver.Env(), "TZ=UTC", "GNUPGHOME="+dir)}
	file := func(name string, lines []string) string {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	r.args = []string{"-C", r.repo, "-c", "gpg.ssh.allowedSignersFile=" + file("signers", a.SSH)}
	if len(a.Revoked) > 0 {
		r.args = append(r.args, "-c", "gpg.ssh.revocationFile="+file("revoked", a.Revoked))
	}
	if len(a.OpenPGP) > 0 {
		gpg := signingkey.GPG.Find(t, "gpg")
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), gpg, "--batch", "--quiet", "--import", file("keys", a.OpenPGP))
		cmd.Env = r.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gpg --import: %v\n%s", err, out)
		}
	}
	return r
}

// judge returns whether git verify-commit accepts a commit, and what it prints.
func (r *judgingRepo) judge(t *testing.T, raw string) (bool, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append(r.args, "verify-commit", r.store(t, raw))...)
	cmd.Env = r.env
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

// store writes a commit into the repo.
func (r *judgingRepo) store(t *testing.T, raw string) string {
	t.Helper()
	object := fmt.Sprintf("commit %d\x00%s", len(raw), raw)
	sum := sha1.Sum([]byte(object)) //nolint:gosec // Git's hash
	hash := hex.EncodeToString(sum[:])
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	must(io.WriteString(w, object))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(r.repo, "objects", hash[:2])
	if err := os.MkdirAll(at, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, hash[2:]), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return hash
}
