package sign_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
)

// FuzzDocuments: of all documents, only those count that the key has signed: its signature and its provenance. In an
// envelope, the signed payload counts.
func FuzzDocuments(f *testing.F) {
	key, err := sign.ParseKey([]byte(encode("PRIVATE KEY", pkcs8(f, ed25519.NewKeyFromSeed(make([]byte, 32))))), nil)
	if err != nil {
		f.Fatal(err)
	}
	const annotation = "dev.cosignproject.cosign/signature"
	artifact, other := digest.FromString("artifact"), digest.FromString("other")
	signature, err := key.Signature("registry.acme.io/fleet", artifact)
	if err != nil {
		f.Fatal(err)
	}
	origin := sign.Origin{Repository: "registry.acme.io/fleet", Artifact: artifact}
	provenance, err := key.Provenance(sign.NewStatement(origin))
	if err != nil {
		f.Fatal(err)
	}
	payload := func(envelope []byte) []byte {
		var e struct{ Payload []byte }
		_ = json.Unmarshal(envelope, &e)
		return e.Payload
	}
	for _, d := range []sign.Document{signature, provenance} {
		f.Add(d.Content, d.Annotations[annotation])
		f.Add(bytes.Replace(d.Content, []byte(`":`), []byte(`": `), 1), d.Annotations[annotation])
		f.Add(append([]byte(`{"payloadType":"x",`), d.Content[1:]...), d.Annotations[annotation])
		f.Add([]byte("null"), "")
	}
	f.Fuzz(func(t *testing.T, content []byte, signed string) {
		d := sign.Document{Content: content, Annotations: map[string]string{annotation: signed}}
		if sign.Signatures.Says(key.PublicKey, artifact, d) && !bytes.Equal(content, signature.Content) {
			t.Errorf("%q is a signature", content)
		}
		if sign.Provenances.Says(key.PublicKey, artifact, d) && !bytes.Equal(payload(content), payload(provenance.Content)) {
			t.Errorf("%q is a provenance", content)
		}
		for _, kind := range []sign.Kind{sign.Signatures, sign.Provenances} {
			if kind.Says(key.PublicKey, other, d) {
				t.Errorf("%q is about another artifact", content)
			}
		}
	})
}

// FuzzPublicKey: a public key in a state is one that we write, or an error.
func FuzzPublicKey(f *testing.F) {
	key, err := sign.ParseKey([]byte(encode("PRIVATE KEY", pkcs8(f, ed25519.NewKeyFromSeed(make([]byte, 32))))), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(key.PEM())
	f.Add(encode("PUBLIC KEY", []byte("x")))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := sign.ParsePublicKey(text)
		if err != nil {
			return
		}
		if again, err := sign.ParsePublicKey(key.PEM()); err != nil || again.PEM() != key.PEM() {
			t.Errorf("%q is written as %q: %v", text, key.PEM(), err)
		}
	})
}
