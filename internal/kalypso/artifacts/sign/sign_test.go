package sign_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"reflect"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
)

const password = "to the key"

// keys returns a private key of each kind, by the name of the kind.
func keys(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	all := map[string]crypto.Signer{}
	add := func(kind string, key crypto.Signer, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all[kind] = key
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	add("P-256", p256, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	add("P-384", p384, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	add("Ed25519", ed, err)
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	add("RSA", long, err)
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	add("short RSA", short, err)
	return all
}

// pkcs8 returns a key in PKCS #8.
func pkcs8(t testing.TB, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// encode returns a block of PEM.
func encode(kind string, content []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

// encrypt returns a key as cosign encrypts it.
func encrypt(t *testing.T, der []byte, password string) []byte {
	t.Helper()
	box, err := encrypted.EncryptWithCustomKDFParameters(der, []byte(password), encrypted.Legacy)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestParseKey(t *testing.T) {
	all := keys(t)
	der := pkcs8(t, all["P-256"])
	box, open := encrypt(t, der, password), encrypt(t, der, "")
	p256, isECDSA := all["P-256"].(*ecdsa.PrivateKey)
	long, isRSA := all["RSA"].(*rsa.PrivateKey)
	if !isECDSA || !isRSA {
		t.Fatal(all)
	}
	ec, err := x509.MarshalECPrivateKey(p256)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(all["P-256"].Public())
	if err != nil {
		t.Fatal(err)
	}
	const cosign = "ENCRYPTED SIGSTORE PRIVATE KEY"
	for name, test := range map[string]struct{ text, password, want string }{
		"cosign":         {text: encode(cosign, box), password: password},
		"older cosign":   {text: encode("ENCRYPTED COSIGN PRIVATE KEY", box), password: password},
		"empty password": {text: encode(cosign, open)},
		"PKCS8":          {text: encode("PRIVATE KEY", der)},
		"EC":             {text: "\n" + encode("EC PRIVATE KEY", ec) + "\n"},
		"RSA":            {text: encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(long))},
		"Ed25519":        {text: encode("PRIVATE KEY", pkcs8(t, all["Ed25519"]))},
		"empty file":     {want: "no private key in PEM"},
		"no PEM":         {text: password, want: "no private key in PEM"},
		"PGP message":    {text: encode("PGP MESSAGE", box), want: "no private key in PEM"},
		"1 MiB of text":  {text: strings.Repeat("a", 1<<20), want: "no private key in PEM"},
		"public key":     {text: encode("PUBLIC KEY", public), want: "a public key or certificate"},
		"certificate":    {text: encode("CERTIFICATE", public), want: "a public key or certificate"},
		"OpenSSL": {text: encode("ENCRYPTED PRIVATE KEY", der), password: password,
			want: "cosign import-key-pair"},
		"cut key":           {text: encode("PRIVATE KEY", der[:len(der)-9]), want: "cut or changed"},
		"cut encrypted key": {text: encode(cosign, box[:90]), password: password, want: "cut or changed"},
		"null in the box":   {text: encode(cosign, []byte("null")), want: "cut or changed"},
		"unsupported curve": {text: encode("PRIVATE KEY", pkcs8(t, all["P-384"])), want: "this kind of key"},
		"short RSA": {text: encode("PRIVATE KEY", pkcs8(t, all["short RSA"])),
			want: "this kind of key"},
		"no password":    {text: encode(cosign, box), want: sign.ErrNoPassword.Error()},
		"wrong password": {text: encode(cosign, box), password: "p", want: sign.ErrPassword.Error()},
		"password for an unencrypted key": {text: encode("PRIVATE KEY", der), password: password,
			want: sign.ErrNotEncrypted.Error()},
		"cut key in the box": {text: encode(cosign, encrypt(t, der[:40], "")), want: "cut or changed"},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := sign.ParseKey([]byte(test.text), []byte(test.password))
			switch {
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q", err, test.want)
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want == "":
				if again, err := sign.ParsePublicKey(key.PEM()); err != nil || !reflect.DeepEqual(again, key.PublicKey) {
					t.Errorf("the public key is %v, %v", again, err)
				}
			case test.password != "" && strings.Contains(err.Error(), test.password) && test.password != "p":
				t.Errorf("the error contains the password: %v", err)
			}
		})
	}
}

// TestSignedDocuments checks that a key makes the same documents each time, and rejects a document that was changed,
// that another key signed, or that is about another artifact.
func TestSignedDocuments(t *testing.T) {
	all, others := keys(t), keys(t)
	parse := func(key crypto.Signer) *sign.Key {
		t.Helper()
		k, err := sign.ParseKey([]byte(encode("PRIVATE KEY", pkcs8(t, key))), nil)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	artifact, other := digest.FromString("artifact"), digest.FromString("other")
	for _, name := range []string{"P-256", "RSA", "Ed25519"} {
		key, another := parse(all[name]), parse(others[name])
		for kind, document := range map[*sign.Kind]func() (sign.Document, error){
			&sign.Signatures: func() (sign.Document, error) { return key.Signature("registry.acme.io/fleet", artifact) },
			&sign.Provenances: func() (sign.Document, error) {
				return key.Provenance(sign.NewStatement(sign.Origin{Repository: "registry.acme.io/fleet", Artifact: artifact}))
			},
		} {
			d, err := document()
			again, _ := document()
			if err != nil || !reflect.DeepEqual(d, again) {
				t.Errorf("%s: %s and %s, %v", name, d, again, err)
			}
			changed := sign.Document{Annotations: d.Annotations, Content: []byte(strings.NewReplacer(
				`"critical":`, `"critical": `, `"payload":"eyJf`, `"payload":"eyBf`,
			).Replace(string(d.Content)))}
			for situation, want := range map[string][2]bool{
				"the document":     {kind.Says(key.PublicKey, artifact, d), true},
				"another key":      {kind.Says(another.PublicKey, artifact, d), false},
				"another artifact": {kind.Says(key.PublicKey, other, d), false},
				"changed document": {kind.Says(key.PublicKey, artifact, changed), false},
				"empty document":   {kind.Says(key.PublicKey, artifact, sign.Document{}), false},
			} {
				if want[0] != want[1] {
					t.Errorf("%s: %s: %v", name, situation, want[0])
				}
			}
		}
	}
}
