package signing_test

import (
	"bytes"
	"crypto"
	"crypto/dsa" //nolint:staticcheck // a key that is refused
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/signing"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/signingkey"
)

const passphrase = "correct horse"

// now is the time at which these tests make their keys.
var now = time.Now().Add(-time.Hour).Truncate(time.Second)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func encode(kind string, content []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

func openSSH(key crypto.PrivateKey, passphrase string) string {
	if passphrase == "" {
		return string(pem.EncodeToMemory(must(ssh.MarshalPrivateKey(key, ""))))
	}
	return string(pem.EncodeToMemory(must(ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase)))))
}

// entity returns an OpenPGP key that was made at now and is valid for the lifetime.
func entity(lifetime time.Duration) *openpgp.Entity {
	return must(openpgp.NewEntity("Kalypso", "", signingkey.Email, &packet.Config{
		Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return now }, KeyLifetimeSecs: uint32(lifetime.Seconds()),
	}))
}

// TestSign lets ssh-keygen and gpg verify the signatures of each kind of key.
func TestSign(t *testing.T) {
	_, ed := must2(ed25519.GenerateKey(nil))
	p256 := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	rsaKey := must(rsa.GenerateKey(rand.Reader, 2048))
	pkcs8 := must(x509.MarshalPKCS8PrivateKey(ed))
	legacy := must(x509.EncryptPEMBlock(rand.Reader, "RSA PRIVATE KEY", //nolint:staticcheck // in use
		x509.MarshalPKCS1PrivateKey(rsaKey), []byte(passphrase), x509.PEMCipherAES256))
	for name, test := range map[string]struct {
		private, passphrase string
		public              any
	}{
		"Ed25519":                           {openSSH(ed, ""), "", ed.Public()},
		"Ed25519, encrypted":                {openSSH(ed, passphrase), passphrase, ed.Public()},
		"Ed25519, needless passphrase":      {openSSH(ed, ""), passphrase, ed.Public()},
		"Ed25519, PKCS #8":                  {encode("PRIVATE KEY", pkcs8), "", ed.Public()},
		"Ed25519, no line break at the end": {"\n " + strings.TrimSpace(openSSH(ed, "")), "", ed.Public()},
		"ECDSA":                             {openSSH(p256, ""), "", p256.Public()},
		"ECDSA, PEM": {encode("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(p256))), "",
			p256.Public()},
		"RSA":                        {openSSH(rsaKey, ""), "", rsaKey.Public()},
		"RSA, PEM with a passphrase": {string(pem.EncodeToMemory(legacy)), passphrase, rsaKey.Public()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verify(t, signingkey.OfSSH(t, test.private, test.public), test.passphrase, signing.SSH)
		})
	}
	for name, of := range map[string]func(*openpgp.Entity){
		"OpenPGP": func(*openpgp.Entity) {},
		"OpenPGP, encrypted": func(e *openpgp.Entity) {
			if err := e.EncryptPrivateKeys([]byte(passphrase), nil); err != nil {
				t.Fatal(err)
			}
		},
		"OpenPGP, signing subkey": func(e *openpgp.Entity) {
			if err := e.AddSigningSubkey(&packet.Config{Algorithm: packet.PubKeyAlgoEdDSA,
				Time: func() time.Time { return now }}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := entity(0)
			of(e)
			given := ""
			if e.PrivateKey.Encrypted {
				given = passphrase
			}
			verify(t, signingkey.OfOpenPGP(t, signingkey.Armoured(t, e), e), given, signing.OpenPGP)
		})
	}
}

func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

func verify(t *testing.T, key signingkey.Key, passphrase string, format signing.Format) {
	t.Helper()
	text := []byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nmessage ü\n")
	for _, f := range []signing.Format{"", format} {
		signer, err := signing.New(signing.Settings{PrivateKey: key.Private, Passphrase: passphrase, Format: f}, now)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := signer(text, now.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		key.Verify(t, text, signature)
		again, err := signer(text, now.Add(time.Minute))
		if format == signing.OpenPGP && !bytes.Equal(again, signature) {
			t.Errorf("the second signature of the same text differs: %v", err)
		}
	}
}

// TestGPG signs with a key that gpg made and exported with a passphrase.
func TestGPG(t *testing.T) {
	t.Parallel()
	gpg := signingkey.GPG.Find(t, "gpg")
	home, err := os.MkdirTemp("", "gpg") //nolint:usetesting // its agent needs a short path
	if err != nil {
		t.Fatal(err)
	}
	run := func(arguments ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		cmd := exec.Command(gpg, append([]string{"--batch", "--pinentry-mode", "loopback", "--passphrase", passphrase},
			arguments...)...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "GNUPGHOME="+home), &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("gpg %v: %v\n%s", arguments, err, errs.String())
		}
		return out.String()
	}
	t.Cleanup(func() {
		cmd := exec.Command("gpgconf", "--kill", "all")
		cmd.Env = append(os.Environ(), "GNUPGHOME="+home)
		if err := errors.Join(cmd.Run(), os.RemoveAll(home)); err != nil {
			t.Error(err)
		}
	})
	run("--quick-gen-key", "Kalypso <"+signingkey.Email+">", "ed25519", "sign", "1y")
	exported := run("--armor", "--export-secret-keys")
	all := must(openpgp.ReadArmoredKeyRing(strings.NewReader(exported)))
	signer, err := signing.New(signing.Settings{PrivateKey: exported, Passphrase: passphrase}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("a commit\n")
	signature, err := signer(text, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	signingkey.OfOpenPGP(t, exported, all[0]).Verify(t, text, signature)

	// If only the subkeys are exported, the private part of the signing key is missing.
	run("--quick-add-key", fmt.Sprintf("%X", all[0].PrimaryKey.Fingerprint), "cv25519", "encr", "1y")
	_, err = signing.New(signing.Settings{PrivateKey: run("--armor", "--export-secret-subkeys")}, time.Now())
	if want := "private_key lacks the private part of the key that signs"; err == nil || err.Error() != want {
		t.Errorf("got the error %v, want %q", err, want)
	}
}

// TestNewErrors: each error names its field, and contains no line of the key.
func TestNewErrors(t *testing.T) {
	public, ed := must2(ed25519.GenerateKey(nil))
	pgp := entity(0)
	private := signingkey.Armoured(t, pgp)
	armoured := func(kind string, write func(*openpgp.Entity, *bytes.Buffer) error) string {
		var content, text bytes.Buffer
		if err := write(entity(0), &content); err != nil {
			t.Fatal(err)
		}
		w := must(armor.Encode(&text, kind, nil))
		must(w.Write(content.Bytes()))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	encrypted := entity(0)
	if err := encrypted.EncryptPrivateKeys([]byte(passphrase), nil); err != nil {
		t.Fatal(err)
	}
	revoked := entity(0)
	at := &packet.Config{Time: func() time.Time { return now }}
	if err := revoked.RevokeKey(packet.KeyRetired, "old", at); err != nil {
		t.Fatal(err)
	}
	anonymous := entity(0)
	anonymous.Identities = nil
	noSigner := entity(0)
	for _, identity := range noSigner.Identities {
		identity.SelfSignature.FlagSign = false
		if err := identity.SelfSignature.SignUserId(identity.UserId.Id, noSigner.PrimaryKey, noSigner.PrivateKey,
			at); err != nil {
			t.Fatal(err)
		}
	}
	dsaKey := asn1DSA()
	two := func(e *openpgp.Entity, w *bytes.Buffer) error {
		return errors.Join(e.SerializePrivateWithoutSigning(w, nil), pgp.SerializePrivateWithoutSigning(w, nil))
	}
	onlyPublic := func(e *openpgp.Entity, w *bytes.Buffer) error { return e.Serialize(w) }
	authorized := string(ssh.MarshalAuthorizedKey(must(ssh.NewPublicKey(public))))
	for name, test := range map[string]struct {
		key, passphrase string
		format          signing.Format
		want            string
	}{
		"path of a key": {key: "~/.ssh/id_ed25519", want: "private_key is not a private key in OpenSSH's format, in PEM or " +
			"in OpenPGP's armour. Pass the content"},
		"public SSH key": {key: authorized, want: "private_key is a public key"},
		"public key in PEM": {key: encode("PUBLIC KEY", must(x509.MarshalPKIXPublicKey(public))),
			want: "private_key is a public key"},
		"public OpenPGP key": {key: armoured(openpgp.PublicKeyType, onlyPublic), want: "private_key is a public key"},
		"PKCS #8, encrypted": {key: encode("ENCRYPTED PRIVATE KEY", []byte("x")),
			want: "private_key is encrypted as PKCS #8"},
		"damaged key":   {key: encode("OPENSSH PRIVATE KEY", []byte("canary")), want: "private_key is damaged"},
		"DSA key":       {key: encode("DSA PRIVATE KEY", dsaKey), want: "private_key is a DSA key"},
		"no passphrase": {key: openSSH(ed, passphrase), want: "passphrase is required: private_key is encrypted"},
		"wrong passphrase": {key: openSSH(ed, passphrase), passphrase: "canary",
			want: "passphrase does not decrypt"},
		"key of another format": {key: openSSH(ed, ""), format: signing.OpenPGP,
			want: `format is "openpgp", and private_key is a key for "ssh"`},
		"unknown format": {key: openSSH(ed, ""), format: "x509", want: `format must be "ssh" or "openpgp"`},
		"OpenPGP, no passphrase": {key: signingkey.Armoured(t, encrypted),
			want: "passphrase is required: private_key is encrypted"},
		"OpenPGP, wrong passphrase": {key: signingkey.Armoured(t, encrypted), passphrase: "canary",
			want: "passphrase does not decrypt"},
		"OpenPGP, damaged key": {key: private[:len(private)/2] + "\n-----END PGP PRIVATE KEY BLOCK-----\n",
			want: "private_key is damaged"},
		"OpenPGP, no user ID": {key: signingkey.Armoured(t, anonymous),
			want: "private_key is damaged, has no user ID that it signed itself"},
		"OpenPGP, expired key": {key: signingkey.Armoured(t, entity(time.Minute)), want: "private_key has expired"},
		"OpenPGP, revoked key": {key: signingkey.Armoured(t, revoked), want: "private_key is revoked"},
		"OpenPGP, key that may not sign": {key: signingkey.Armoured(t, noSigner),
			want: "private_key has no key that may sign now"},
		"OpenPGP, two keys": {key: armoured(openpgp.PrivateKeyType, two), want: "private_key contains 2 keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := signing.Settings{PrivateKey: test.key, Passphrase: test.passphrase, Format: test.format}
			signer, err := signing.New(given, now.Add(2*time.Minute))
			var invalid *signing.FieldError
			if !errors.As(err, &invalid) || signer != nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("got the error %q, want %q", err, test.want)
			}
			for line := range strings.Lines(test.key) {
				line = strings.TrimSpace(line)
				if line != "" && strings.Contains(err.Error(), line) || strings.Contains(err.Error(), "canary") {
					t.Errorf("the error contains a part of the key: %s", err)
				}
			}
		})
	}
}

// asn1DSA returns a small DSA key as OpenSSL writes it.
func asn1DSA() []byte {
	var key dsa.PrivateKey
	if err := errors.Join(dsa.GenerateParameters(&key.Parameters, rand.Reader, dsa.L1024N160),
		dsa.GenerateKey(&key, rand.Reader)); err != nil {
		panic(err)
	}
	return must(asn1.Marshal(struct {
		Version       int
		P, Q, G, Y, X *big.Int
	}{0, key.P, key.Q, key.G, key.Y, key.X}))
}
