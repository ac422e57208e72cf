package artifacts_test

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	kjson "sigs.k8s.io/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

const (
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
)

// forgery is a manifest that people without the key wrote.
type forgery struct {
	mediaType string // of the request; "": that of an image
	change    func(genuine string) string
}

// edit changes a manifest.
func edit(change func(m *ocispec.Manifest)) func(string) string {
	return func(genuine string) string {
		var m ocispec.Manifest
		if err := json.Unmarshal([]byte(genuine), &m); err != nil {
			panic(err)
		}
		change(&m)
		text, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
}

// replace replaces a part of a manifest.
func replace(old, by string) func(string) string {
	return func(genuine string) string { return strings.Replace(genuine, old, by, 1) }
}

func annotate(name, value string) func(string) string {
	return edit(func(m *ocispec.Manifest) { m.Annotations[name] = value })
}

// layer changes the descriptor of the content.
func layer(change func(d *ocispec.Descriptor)) func(string) string {
	return edit(func(m *ocispec.Manifest) { change(&m.Layers[0]) })
}

// first puts a field before all others, so that a field of the same name follows it.
func first(field string) func(string) string {
	return func(genuine string) string { return "{" + field + "," + genuine[1:] }
}

// forgeries are manifests with the files of a genuine one. other describes another manifest in the same repository.
func forgeries(other ocispec.Descriptor, wrongCommit string) map[string]forgery {
	// The registry refuses an OCI image that is also an index.
	polyglot := func(mediaType string) forgery {
		return forgery{mediaType, func(genuine string) string {
			also := fmt.Sprintf(`"manifests":[{"mediaType":%q,"digest":%q,"size":%d,`+
				`"platform":{"architecture":"amd64","os":"linux"}}]`, ocispec.MediaTypeImageManifest, other.Digest, other.Size)
			return first(also)(strings.Replace(genuine, ocispec.MediaTypeImageManifest, mediaType, 1))
		}}
	}
	return map[string]forgery{
		"Docker list and image": polyglot(dockerList),
		"Docker image and list": polyglot(dockerManifest),
		"Docker image":          {dockerManifest, replace(ocispec.MediaTypeImageManifest, dockerManifest)},
		"artifact type":         {change: edit(func(m *ocispec.Manifest) { m.ArtifactType = "acme" })},
		"subject":               {change: edit(func(m *ocispec.Manifest) { m.Subject = &other })},
		"unknown field":         {change: first(`"x":"y"`)},
		"revision":              {change: annotate(ocispec.AnnotationRevision, "dev@sha1:"+strings.Repeat("0", 40))},
		"revision of a commit":  {change: annotate(ocispec.AnnotationRevision, "dev@sha1:"+wrongCommit)},
		"revision of a branch":  {change: annotate(ocispec.AnnotationRevision, "main")},
		"no revision":           {change: annotate(ocispec.AnnotationRevision, "")},
		"created":               {change: annotate(ocispec.AnnotationCreated, "2001-01-01T00:00:00Z")},
		"source":                {change: annotate(ocispec.AnnotationSource, "https://acme.test/other")},
		"another annotation":    {change: annotate("org.opencontainers.image.url", "https://acme.test")},
		"annotation twice":      {change: first(`"annotations":{"org.opencontainers.image.revision":"x"}`)},
		"layers twice":          {change: first(`"layers":[]`)},
		"layers in capitals":    {change: first(`"Layers":[]`)},
		"a layer without a use": {change: edit(func(m *ocispec.Manifest) { m.Layers = append(m.Layers, m.Config) })},
		"URLs of the content": {change: layer(func(d *ocispec.Descriptor) {
			d.URLs = []string{"https://acme.test/evil"}
		})},
		"size of the content": {change: layer(func(d *ocispec.Descriptor) { d.Size = 1 })},
		"data of the content": {change: layer(func(d *ocispec.Descriptor) { d.Data = []byte("evil") })},
		"annotated content": {change: layer(func(d *ocispec.Descriptor) {
			d.Annotations = map[string]string{"a": "b"}
		})},
		"data of the config": {change: edit(func(m *ocispec.Manifest) { m.Config.Data = []byte("evil") })},
		"another config": {change: edit(func(m *ocispec.Manifest) {
			m.Config.Digest, m.Config.Size = other.Digest, other.Size
		})},
		"type of the config": {change: edit(func(m *ocispec.Manifest) { m.Config.MediaType = "application/vnd.acme" })},
		"white space":        {change: func(genuine string) string { return genuine + "\n" }},
		"escapes":            {change: replace(`"layers"`, `"\u006cayers"`)},
		"other order": {change: func(genuine string) string {
			rest := strings.TrimPrefix(genuine, `{"schemaVersion":2,`)
			return "{" + strings.TrimSuffix(rest, "}") + `,"schemaVersion":2}`
		}},
	}
}

// TestForgedManifests: who may write to the registry puts a manifest with our files to the tag of a tree before it is
// published. Only the bytes that the provider writes are signed and get a tag: it uploads its own.
func TestForgedManifests(t *testing.T) {
	f := newFleet(t)
	wrongCommit := f.deliver(t, map[string]string{"large/x.yaml": "a: 0\n"}, "large")
	commit := f.deliver(t, map[string]string{"large/x.yaml": "a: 1\n"}, "large")
	server := registryserver.Start(t)
	d, err := artifacts.Open(t.Context(), f.client, f.at, commit)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	publish := func(t *testing.T, p artifacts.Publication, uploads int) artifacts.Artifact {
		t.Helper()
		all, n, err := p.Publish(t.Context(), d)
		if err != nil || n != uploads {
			t.Fatalf("%d uploads, want %d; %v", n, uploads, err)
		}
		return all["large"]
	}
	first := publication(t, server.Host)
	large := open(t, first, "large")
	at, err := large.Resolve(t.Context(), publish(t, first, 1).Digest)
	if err != nil {
		t.Fatal(err)
	}
	genuine := fetchText(t, large, at) // what the provider writes, in each repository
	other := strings.Replace(genuine, "dev@", "x@", 1)
	key := newKey(t)
	for name, forged := range forgeries(content.NewDescriptorFromBytes(ocispec.MediaTypeImageManifest, []byte(other)),
		wrongCommit) {
		t.Run(name, func(t *testing.T) {
			p := publication(t, server.Host)
			p.Base, err = p.Base.Join(strings.ReplaceAll(strings.ToLower(name), " ", "-"))
			if err != nil {
				t.Fatal(err)
			}
			want := publish(t, p, 1) // uploads the blobs
			r := open(t, p, "large")
			if err := r.Manifests().Delete(t.Context(), at); err != nil {
				t.Fatal(err)
			}
			put(t, r, blob(t, r, ocispec.MediaTypeImageManifest, other), "other")
			mediaType := cmp.Or(forged.mediaType, ocispec.MediaTypeImageManifest)
			text := forged.change(genuine)
			theirs := put(t, r, document{content.NewDescriptorFromBytes(mediaType, []byte(text)), text}, want.TreeHash)
			if theirs.Digest == at.Digest {
				t.Fatal("nothing is forged")
			}
			put(t, r, document{theirs, text}, "latest")

			p.Key = key
			if now := publish(t, p, 1); now != want {
				t.Fatalf("published %v, want %v", now, want)
			}
			for _, tag := range []string{want.TreeHash, "latest"} {
				if found, err := r.Resolve(t.Context(), tag); err != nil || found.Digest != at.Digest {
					t.Errorf("the tag %s names %v, want %s; %v", tag, found, at.Digest, err)
				}
			}
			for _, kind := range []sign.Kind{sign.Signatures, sign.Provenances} {
				if _, err := r.Resolve(t.Context(), kind.Tag(theirs.Digest)); err == nil {
					t.Errorf("the forged manifest has %s", kind.MediaType)
				}
				if _, err := r.Resolve(t.Context(), kind.Tag(at.Digest)); err != nil {
					t.Errorf("the artifact has no %s: %v", kind.MediaType, err)
				}
			}
			server.Requests()
			publish(t, p, 0)
			if sent := server.Requests(); sent[http.MethodPut]+sent[http.MethodPost] != 0 {
				t.Errorf("a publication without a change sent %v", sent)
			}
		})
	}
}

// TestEarlierArtifact: an artifact that the provider published for an earlier commit with the same folder is taken, in
// another state too. A manifest that names a commit which did not make the folder so is replaced.
func TestEarlierArtifact(t *testing.T) {
	f, server := newFleet(t), registryserver.Start(t)
	p := publication(t, server.Host)
	deliver := func(text string) string {
		return f.deliver(t, map[string]string{"large/x.yaml": text, "small/x.yaml": "b: 1\n"}, "large", "small")
	}
	one, _, err := f.publish(t, p, deliver("a: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	deliver("a: 2\n")
	unrelated := f.deliver(t, map[string]string{"small/x.yaml": "b: 2\n"}, "large", "small")
	back := deliver("a: 1\n")
	if now, uploads, err := f.publish(t, p, back); err != nil || uploads != 0 || now["large"] != one["large"] {
		t.Errorf("changed back: %d uploads of %v, want %v; %v", uploads, now, one, err)
	}

	r := open(t, p, "large")
	at, err := r.Resolve(t.Context(), one["large"].Digest)
	if err != nil {
		t.Fatal(err)
	}
	genuine := fetchText(t, r, at)
	_, revision, _ := strings.Cut(genuine, "dev@sha1:")
	for _, wrong := range []string{unrelated, strings.Repeat("0", 40), strings.Repeat("x", 40)} {
		text := strings.Replace(genuine, revision[:40], wrong, 1)
		put(t, r, document{content.NewDescriptorFromBytes(at.MediaType, []byte(text)), text}, one["large"].TreeHash)
		now, uploads, err := f.publish(t, p, back)
		if err != nil || uploads != 1 || now["large"].Digest == digest.FromString(text).String() {
			t.Errorf("revision %s: %d uploads of %v; %v", wrong, uploads, now, err)
		}
	}
}

// TestForgedSignatures: who may write to the registry puts a manifest to the tag of the signatures or of the
// provenances. The publication adds its document in a manifest that it writes itself: it keeps the documents of other
// people, and nothing else of theirs. A manifest that programs read in several ways has no signature.
func TestForgedSignatures(t *testing.T) {
	f, server := newFleet(t), registryserver.Start(t)
	commit := f.deliver(t, map[string]string{"large/x.yaml": "a: 1\n"}, "large")
	p := publication(t, server.Host)
	p.Key = newKey(t)
	all, _, err := f.publish(t, p, commit)
	if err != nil {
		t.Fatal(err)
	}
	p.Published, p.Signer = all, &p.Key.PublicKey
	r := open(t, p, "large")
	for _, kind := range []sign.Kind{sign.Signatures, sign.Provenances} {
		tag := kind.Tag(digest.Digest(all["large"].Digest))
		at, err := r.Resolve(t.Context(), tag)
		if err != nil {
			t.Fatal(err)
		}
		genuine := fetchText(t, r, at)
		theirs := blob(t, r, kind.MediaType, "theirs").Descriptor
		theirs.Annotations = map[string]string{"dev.cosignproject.cosign/signature": "theirs"}
		layers := func(before ...ocispec.Descriptor) forgery {
			return forgery{change: edit(func(m *ocispec.Manifest) { m.Layers = append(before, m.Layers...) })}
		}
		only := func(documents ...ocispec.Descriptor) forgery {
			return forgery{change: edit(func(m *ocispec.Manifest) { m.Layers = append([]ocispec.Descriptor{}, documents...) })}
		}
		described := func(change func(d *ocispec.Descriptor)) forgery {
			d := theirs
			change(&d)
			return layers(d)
		}
		for name, tt := range map[string]struct {
			forgery
			complete bool // the document of the publication counts
			kept     int  // documents of other people
		}{
			"Docker image": {forgery{
				dockerManifest, replace(ocispec.MediaTypeImageManifest, dockerManifest),
			}, true, 0},
			"another document":       {layers(theirs), true, 1},
			"another document alone": {only(theirs), false, 1},
			"no document":            {only(), false, 0},
			"Docker list": {forgery{dockerList, func(genuine string) string {
				return first(`"manifests":[]`)(replace(ocispec.MediaTypeImageManifest, dockerList)(genuine))
			}}, false, 0},
			"Docker image and list": {forgery{dockerManifest, func(genuine string) string {
				return first(`"manifests":[]`)(replace(ocispec.MediaTypeImageManifest, dockerManifest)(genuine))
			}}, false, 0},
			"unknown field":      {forgery{change: first(`"x":"y"`)}, false, 0},
			"layers twice":       {forgery{change: first(`"layers":[]`)}, false, 0},
			"layers in capitals": {forgery{change: first(`"Layers":[]`)}, false, 0},
			"annotated manifest": {forgery{change: edit(func(m *ocispec.Manifest) {
				m.Annotations = map[string]string{"a": "b"}
			})}, true, 0},
			"URL of a document":  {described(func(d *ocispec.Descriptor) { d.URLs = []string{"https://acme.test"} }), true, 0},
			"data of a document": {described(func(d *ocispec.Descriptor) { d.Data = []byte("x") }), true, 1},
			"size of a document": {described(func(d *ocispec.Descriptor) { d.Size = 1 }), true, 0},
			"type of a document": {described(func(d *ocispec.Descriptor) { d.MediaType = "application/vnd.acme" }), true, 0},
			"large document":     {described(func(d *ocispec.Descriptor) { d.Size = 1 << 40 }), true, 0},
			"many documents":     {layers(slices.Repeat([]ocispec.Descriptor{theirs}, 200)...), false, 100},
			"URL of a document alone": {only(ocispec.Descriptor{
				MediaType: theirs.MediaType, Digest: theirs.Digest, Size: theirs.Size, URLs: []string{"https://acme.test"},
			}), false, 0},
			"data of a document alone": {only(ocispec.Descriptor{
				MediaType: theirs.MediaType, Digest: theirs.Digest, Size: theirs.Size, Data: []byte("x"),
			}), false, 1},
			"size of a document alone": {only(ocispec.Descriptor{
				MediaType: theirs.MediaType, Digest: theirs.Digest, Size: theirs.Size + 1,
			}), false, 0},
		} {
			t.Run(name, func(t *testing.T) {
				mediaType := cmp.Or(tt.mediaType, ocispec.MediaTypeImageManifest)
				text := tt.change(genuine)
				forged := put(t, r, document{content.NewDescriptorFromBytes(mediaType, []byte(text)), text}, tag)
				signed := tt.complete || kind.ArtifactType != sign.Signatures.ArtifactType
				if o, err := p.Observe(t.Context()); err != nil || o.Unsigned == signed {
					t.Errorf("unsigned: %v, %v", o.Unsigned, err)
				}
				if _, uploads, err := f.publish(t, p, commit); err != nil || uploads != 0 {
					t.Fatalf("%d uploads, %v", uploads, err)
				}
				now, err := r.Resolve(t.Context(), tag)
				if err != nil {
					t.Fatal(err)
				}
				if tt.complete {
					if now.Digest != forged.Digest {
						t.Errorf("the manifest was replaced: %s", fetchText(t, r, now))
					}
					return
				}
				var clean ocispec.Manifest
				if strict, err := kjson.UnmarshalStrict([]byte(fetchText(t, r, now)), &clean); err != nil || len(strict) > 0 ||
					now.MediaType != ocispec.MediaTypeImageManifest || len(clean.Annotations) > 0 || len(clean.Layers) != 1+tt.kept {
					t.Errorf("the manifest is %s", fetchText(t, r, now))
				}
				server.Requests()
				if _, _, err := f.publish(t, p, commit); err != nil {
					t.Fatal(err)
				}
				if sent := server.Requests(); sent[http.MethodPut]+sent[http.MethodPost] != 0 {
					t.Errorf("a publication without a change sent %v", sent)
				}
			})
		}
	}
}

// document is a document with its descriptor.
type document struct {
	ocispec.Descriptor
	text string
}

// blob uploads a text as a blob.
func blob(t *testing.T, r *remote.Repository, mediaType, text string) document {
	t.Helper()
	d := document{content.NewDescriptorFromBytes(mediaType, []byte(text)), text}
	if err := r.Blobs().Push(t.Context(), d.Descriptor, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return d
}

// put uploads a manifest as it is, with a tag.
func put(t *testing.T, r *remote.Repository, d document, tag string) ocispec.Descriptor {
	t.Helper()
	url := "http://" + r.Reference.Registry + "/v2/" + r.Reference.Repository + "/manifests/" + tag
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(d.text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", d.MediaType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer bytes.Buffer
	_, _ = answer.ReadFrom(resp.Body)
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("the registry refuses the manifest: %s %s\n%s", resp.Status, &answer, d.text)
	}
	return d.Descriptor
}

func fetchText(t *testing.T, r *remote.Repository, at ocispec.Descriptor) string {
	t.Helper()
	text, err := content.FetchAll(t.Context(), r.Manifests(), at)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// open opens the repository of a cluster type.
func open(t *testing.T, p artifacts.Publication, clusterType string) *remote.Repository {
	t.Helper()
	name, err := p.Base.Join(clusterType)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Client.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// newKey returns a key that signs.
func newKey(t *testing.T) *sign.Key {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := sign.ParseKey(privateKey(t, private), nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
