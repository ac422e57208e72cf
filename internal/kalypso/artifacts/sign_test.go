package artifacts_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs/cosign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// TestSign lets cosign verify the signatures and the provenances of artifacts.
func TestSign(t *testing.T) {
	f, key, other, server := newFleet(t), cosign.NewKey(t), cosign.NewKey(t), registryserver.Start(t)
	commit := f.deliver(t, twoTypes, "large", "small")
	p := publication(t, server.Host)
	p.Version = "1.2.3"
	publish := func(uploads int) map[string]artifacts.Artifact {
		t.Helper()
		all, n, err := f.publish(t, p, commit)
		if err != nil || n != uploads {
			t.Fatalf("%d uploads, want %d; %v", n, uploads, err)
		}
		return all
	}
	all := publish(2)
	large, small := server.Host+"/fleet/dev/large@"+all["large"].Digest, server.Host+"/fleet/dev/small:latest"
	if err := cosign.Verify(t, key.Public, large); err == nil {
		t.Fatal("cosign verifies an artifact that is not signed")
	}
	other.Sign(t, large) // people with another key; their signature must not be removed

	// Artifacts that were published without a key are signed later, without another upload.
	var err error
	p.Key, err = sign.ParseKey([]byte(key.Private), []byte(key.Password))
	if err != nil {
		t.Fatal(err)
	}
	if p.Key.PEM() != key.Public {
		t.Errorf("public key %s, want %s", p.Key.PEM(), key.Public)
	}
	publish(0)
	for _, signed := range [][2]string{{key.Public, large}, {key.Public, small}, {other.Public, large}} {
		if err := cosign.Verify(t, signed[0], signed[1]); err != nil {
			t.Error(err)
		}
	}
	if err := cosign.Verify(t, other.Public, small); err == nil {
		t.Error("cosign verifies a signature with another key")
	}
	checkProvenance(t, f, commit, key, large)
	if _, err := cosign.Provenance(t, other.Public, large); err == nil {
		t.Error("cosign verifies a provenance with another key")
	}

	// A signed artifact is not signed again.
	server.Requests()
	publish(0)
	if sent := server.Requests(); sent[http.MethodPut] != 0 || sent[http.MethodPost] != 0 {
		t.Errorf("a publication of signed artifacts sent %v", sent)
	}

	// Another machine makes the same signature and the same provenance.
	name, err := p.Base.Join("small")
	if err != nil {
		t.Fatal(err)
	}
	repository, err := p.Client.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	before := removeAttached(t, repository, all["small"].Digest)
	if err := cosign.Verify(t, key.Public, small); err == nil {
		t.Error("cosign verifies a signature that was removed")
	}
	publish(0)
	if after := removeAttached(t, repository, all["small"].Digest); before != after {
		t.Errorf("two machines attached %s and %s", before, after)
	}
	key.Sign(t, small) // people with our key; the publication must not replace their signature
	publish(0)
	if again := removeAttached(t, repository, all["small"].Digest); again[0] == before[0] || again[1] != before[1] {
		t.Errorf("signed by people with the same key: %s, want another signature than %s", again, before)
	}

	// Other kinds of keys sign too.
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, private := range map[string]any{"Ed25519": ed, "RSA": long} {
		p.Key, err = sign.ParseKey(privateKey(t, private), nil)
		if err != nil {
			t.Fatal(err)
		}
		publish(0)
		if err := cosign.Verify(t, p.Key.PEM(), small); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := cosign.Provenance(t, p.Key.PEM(), small); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// privateKey returns a private key in PEM.
func privateKey(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// removeAttached removes the signature and the provenance of an artifact, and returns their digests.
func removeAttached(t *testing.T, r *remote.Repository, artifact string) (digests [2]digest.Digest) {
	t.Helper()
	for i, kind := range []sign.Kind{sign.Signatures, sign.Provenances} {
		found, err := r.Resolve(t.Context(), kind.Tag(digest.Digest(artifact)))
		if err == nil {
			err = r.Manifests().Delete(t.Context(), found)
		}
		if err != nil {
			t.Fatal(err)
		}
		digests[i] = found.Digest
	}
	return digests
}

// checkProvenance lets cosign verify the provenance of an artifact, and looks for the commits in it.
func checkProvenance(t *testing.T, f *fleet, commit string, key cosign.Key, artifact string) {
	t.Helper()
	out, err := cosign.Provenance(t, key.Public, artifact)
	if err != nil {
		t.Error(err)
		return
	}
	var envelope struct{ Payload string }
	if err := json.Unmarshal([]byte(out), &envelope); err != nil {
		t.Fatal(err, out)
	}
	content, err := base64.StdEncoding.DecodeString(envelope.Payload)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		commit, "git+file://" + f.at.Repo + "@refs/heads/dev", `"1.2.3"`, sourceCommit, promotedCommit, "/fleet/dev/large",
	} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the provenance lacks %s:\n%s", want, content)
		}
	}
}
