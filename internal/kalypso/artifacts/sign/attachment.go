package sign

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// Kind is a kind of documents that cosign attaches to an artifact: layers of a manifest whose tag names the artifact.
type Kind struct {
	suffix       string // of the tag
	MediaType    string // of a layer
	ArtifactType string // of the manifest
	// Says reports whether a document is valid, signed with a key, and about an artifact.
	Says func(key PublicKey, artifact digest.Digest, d Document) bool
}

// The kinds of documents.
var (
	// Signatures are simple signing payloads. All versions of cosign and of Flux verify them.
	Signatures = Kind{
		"sig", "application/vnd.dev.cosign.simplesigning.v1+json", "application/vnd.dev.cosign.artifact.sig.v1+json",
		PublicKey.signed,
	}
	// Provenances are in-toto statements in DSSE envelopes.
	Provenances = Kind{
		"att", "application/vnd.dsse.envelope.v1+json", "application/vnd.dev.cosign.artifact.att.v1+json",
		PublicKey.attested,
	}
)

// The annotations of a layer.
const (
	annotationSignature     = "dev.cosignproject.cosign/signature"
	annotationPredicateType = "predicateType"
)

// Tag returns the tag of the manifest with the documents of an artifact.
func (k Kind) Tag(artifact digest.Digest) string {
	return artifact.Algorithm().String() + "-" + artifact.Encoded() + "." + k.suffix
}

// Document is a layer of a [Kind].
type Document struct {
	Content     []byte
	Annotations map[string]string
}

// payload is the text that a signature covers, in cosign's form of the simple signing of container images.
type payload struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
	Optional map[string]any `json:"optional"`
}

const payloadType = "cosign container image signature"

// Signature signs an artifact of a repository, such as registry.acme.io/fleet/dev.
func (k *Key) Signature(repository string, artifact digest.Digest) (Document, error) {
	var p payload
	p.Critical.Identity.Reference = repository
	p.Critical.Image.Digest = artifact.String()
	p.Critical.Type = payloadType
	content := marshal(p)
	signature, err := k.sign(content)
	if err != nil {
		return Document{}, err
	}
	return Document{content, map[string]string{
		annotationSignature: base64.StdEncoding.EncodeToString(signature),
	}}, nil
}

func (k PublicKey) signed(artifact digest.Digest, d Document) bool {
	signature, err := base64.StdEncoding.DecodeString(d.Annotations[annotationSignature])
	var p payload
	return err == nil && k.verify(d.Content, signature) && json.Unmarshal(d.Content, &p) == nil &&
		p.Critical.Type == payloadType && p.Critical.Image.Digest == artifact.String()
}

// The types in a statement.
const (
	typeInToto     = "application/vnd.in-toto+json"
	typeStatement  = "https://in-toto.io/Statement/v1"
	typeProvenance = "https://slsa.dev/provenance/v1"
)

// Provenance signs a statement.
func (k *Key) Provenance(s Statement) (Document, error) {
	content := marshal(s)
	signature, err := k.sign(dsse.PAE(typeInToto, content))
	if err != nil {
		return Document{}, err
	}
	return Document{
		marshal(dsse.Envelope{
			PayloadType: typeInToto, Payload: base64.StdEncoding.EncodeToString(content),
			Signatures: []dsse.Signature{{Sig: base64.StdEncoding.EncodeToString(signature)}},
		}),
		map[string]string{annotationSignature: "", annotationPredicateType: typeProvenance}, // cosign wants both
	}, nil
}

func (k PublicKey) attested(artifact digest.Digest, d Document) bool {
	var e dsse.Envelope
	if json.Unmarshal(d.Content, &e) != nil || e.PayloadType != typeInToto {
		return false
	}
	content, err := e.DecodeB64Payload()
	if err != nil {
		return false
	}
	var s Statement
	if json.Unmarshal(content, &s) != nil || s.PredicateType != typeProvenance || !s.about(artifact) {
		return false
	}
	for _, one := range e.Signatures {
		signature, err := base64.StdEncoding.DecodeString(one.Sig)
		if err == nil && k.verify(dsse.PAE(typeInToto, content), signature) {
			return true
		}
	}
	return false
}

// marshal encodes a document. Its text is not for HTML.
func marshal(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // texts and maps of texts
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
