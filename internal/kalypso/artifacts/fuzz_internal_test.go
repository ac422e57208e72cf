package artifacts

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// FuzzManifest: a plain manifest is one JSON object of a single media type, in which all programs read the same: a
// reader that takes the first of two equal keys, or keys in any case, reads what we do. A manifest that is not plain
// may have layers, but its type is that of an image.
func FuzzManifest(f *testing.F) {
	one := describe("application/vnd.dev.cosign.simplesigning.v1+json", []byte("{}")).Descriptor
	text, err := json.Marshal(ocispec.Manifest{
		MediaType: ocispec.MediaTypeImageManifest, Config: one, Layers: []ocispec.Descriptor{one},
		Annotations: map[string]string{"a": "b"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ocispec.MediaTypeImageManifest, text)
	f.Add(mediaTypeDocker, text)
	f.Add("application/vnd.docker.distribution.manifest.list.v2+json", text)
	for _, more := range []string{
		`{"manifests":[]}`, `{"layers":[],"layers":[{"size":-1}]}`, `{"Layers":[{"digest":"sha256:00"}]}`,
		`{"mediaType":"` + mediaTypeDocker + `"} {}`, `[]`, `null`, `{"layers":[{"urls":["x"],"data":"eA=="}]}`,
		`{"\u006cayers":[]}`,
	} {
		f.Add(ocispec.MediaTypeImageManifest, []byte(more))
		f.Add(mediaTypeDocker, []byte(more))
	}
	f.Fuzz(func(t *testing.T, mediaType string, text []byte) {
		manifest, plain := parseAttached(mediaType, text)
		if mediaType != ocispec.MediaTypeImageManifest && mediaType != mediaTypeDocker &&
			(plain || !reflect.DeepEqual(manifest, ocispec.Manifest{})) {
			t.Errorf("%q of the type %q is read", text, mediaType)
		}
		if !plain {
			return
		}
		var usual ocispec.Manifest
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &usual); err != nil || json.Unmarshal(text, &fields) != nil || fields == nil {
			t.Fatalf("%q is plain, but no JSON object: %v", text, err)
		}
		if diff := cmp.Diff(usual, manifest); diff != "" || usual.MediaType != mediaType || fields["manifests"] != nil {
			t.Errorf("%q is plain as %q, but another program reads (-another +ours):\n%s", text, mediaType, diff)
		}
	})
}

// FuzzCommitIn: the commit that a manifest names is the end of its revision, after the branch.
func FuzzCommitIn(f *testing.F) {
	for _, text := range []string{
		`{"annotations":{"org.opencontainers.image.revision":"dev@sha1:0123456789abcdef0123456789abcdef01234567"}}`,
		`{"annotations":{"org.opencontainers.image.revision":"@sha1:@sha1:0123"}}`, `{"annotations":[]}`, `{}`, `x`,
		`{"Annotations":{"org.opencontainers.image.revision":"a@sha1:0123456789ABCDEF0123456789abcdef01234567"}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		commit := commitIn(text)
		if commit.IsZero() {
			return
		}
		var manifest ocispec.Manifest
		_ = json.Unmarshal(text, &manifest)
		revision := strings.ToLower(manifest.Annotations[ocispec.AnnotationRevision])
		if manifest.Annotations != nil && !strings.HasSuffix(revision, hashPrefix+commit.String()) {
			t.Errorf("%q names the commit %s", text, commit)
		}
	})
}
