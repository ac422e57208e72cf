package artifacts_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// fleet is a GitOps repo with a rendering of the cluster types of its folders.
type fleet struct {
	at     destination.Destination
	client *gitremote.Client
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &fleet{destination.Destination{Repo: gitserver.InitBare(t), Branch: "dev", Path: "fleet"}, client}
}

// The commits that the records of a delivery name.
const (
	promotedCommit = "1111111111111111111111111111111111111111"
	sourceCommit   = "2222222222222222222222222222222222222222"
)

var sources = map[string]string{"https://github.com/acme/control-plane@main:fleet": sourceCommit}

// deliver commits files below the path with a record of the cluster types, and returns the commit. An empty text
// removes the file.
func (f *fleet) deliver(t *testing.T, files map[string]string, clusterTypes ...string) string {
	t.Helper()
	all := map[string]gitserver.File{}
	for name, text := range files {
		file := gitserver.File{Mode: "100644", Content: text}
		if text == "" {
			file = gitserver.File{}
		}
		all[f.at.Join(name)] = file
	}
	for name, text := range record.New("dev", clusterTypes, promotedCommit, nil, sources).Files(f.at, "") {
		all[name] = gitserver.File{Mode: "100644", Content: string(text)}
	}
	return gitserver.SeedFiles(t, f.at.Repo, f.at.Branch, "deliver", all)
}

// publish publishes a commit.
func (f *fleet) publish(
	t *testing.T, p artifacts.Publication, commit string,
) (map[string]artifacts.Artifact, int, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d, err := artifacts.Open(ctx, f.client, f.at, commit)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return p.Publish(ctx, d)
}

// publication returns a publication to a registry. Its client uses the test's clock, so that its waits take no time.
func publication(t *testing.T, host string, logins ...*registry.Login) artifacts.Publication {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	base, err := registry.ParseRepository("oci://" + host + "/fleet/dev")
	if err != nil {
		t.Fatal(err)
	}
	return artifacts.Publication{
		Client: registry.New(logins, httpapi.Access{UserAgent: "test", Clock: hostingtest.NewClockNow()}),
		Base:   base, Tags: []string{"latest"},
	}
}

// twoTypes is a rendering of the cluster types large and small.
var twoTypes = map[string]string{
	"large/app/deploy.yaml": "kind: Deployment\n", "large/platform-config.yaml": "a: 1\n",
	"small/app/deploy.yaml": "kind: Deployment\n",
}

// TestPublish follows artifacts through their life: they are published, published again without a change, changed and
// changed back. People move their tags and delete a manifest. At the end they are removed.
func TestPublish(t *testing.T) {
	f, server := newFleet(t), registryserver.Start(t)
	p := publication(t, server.Host)
	first := f.deliver(t, twoTypes, "large", "small")

	publish := func(commit string, uploads int) map[string]artifacts.Artifact {
		t.Helper()
		all, n, err := f.publish(t, p, commit)
		if err != nil || n != uploads {
			t.Fatalf("%d uploads, want %d; %v", n, uploads, err)
		}
		p.Published = all
		return all
	}
	observed := func(tags int, names ...string) artifacts.Observed {
		t.Helper()
		o, err := p.Observe(t.Context())
		if err != nil || len(o.Tags) != tags || !slices.Equal(slices.Sorted(maps.Keys(o.Artifacts)), names) {
			t.Fatalf("observed %+v, %v", o, err)
		}
		return o
	}
	one := publish(first, 2)
	for _, name := range []string{"large", "small"} {
		if want := server.Host + "/fleet/dev/" + name + ":" + one[name].TreeHash; one[name].Ref != want {
			t.Errorf("%s: %+v", name, one[name])
		}
	}
	observed(1, "large", "small")
	server.Requests()
	publish(first, 0)
	if sent := server.Requests(); sent[http.MethodPut] != 0 || sent[http.MethodPost] != 0 {
		t.Errorf("a publication without a change sent %v", sent)
	}

	two := publish(f.deliver(t, map[string]string{"large/platform-config.yaml": "a: 2\n"}, "large", "small"), 1)
	if two["small"] != one["small"] || two["large"] == one["large"] {
		t.Errorf("a changed folder: %v, was %v", two, one)
	}
	back := publish(f.deliver(t, map[string]string{"large/platform-config.yaml": "a: 1\n"}, "large", "small"), 0)
	if back["large"] != one["large"] {
		t.Errorf("a folder that was changed back: %v, was %v", back["large"], one["large"])
	}
	observed(1, "large", "small") // the tag latest names the first artifact again

	// People move two tags: the tag that names the tree, and latest.
	repository, err := p.Base.Join("large")
	if err != nil {
		t.Fatal(err)
	}
	large, err := p.Client.Open(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	other, err := large.Resolve(t.Context(), two["large"].Digest)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{one["large"].TreeHash, "latest"} {
		if err := large.Tag(t.Context(), other, tag); err != nil {
			t.Fatal(err)
		}
	}
	if o := observed(0, "large", "small"); o.Artifacts["large"].Digest != two["large"].Digest || len(o.Missing) > 0 {
		t.Errorf("moved tags: %+v", o)
	}
	publish(first, 0)
	observed(1, "large", "small")

	// Without a state, an artifact is adopted only if its tree is the same.
	if err := large.Tag(t.Context(), other, one["large"].TreeHash); err != nil {
		t.Fatal(err)
	}
	p.Published = nil
	if again := publish(first, 1); again["large"] != one["large"] {
		t.Errorf("without a state: %v, was %v", again["large"], one["large"])
	}

	// Without a state, a manifest with our annotations and other files is replaced.
	if err := large.Tag(t.Context(), withOtherFiles(t, large, one["large"].Digest), one["large"].TreeHash); err != nil {
		t.Fatal(err)
	}
	p.Published = nil
	if again := publish(first, 1); again["large"] != one["large"] {
		t.Errorf("with other files: %v, was %v", again["large"], one["large"])
	}

	// People delete the manifest, and its tags with it.
	gone, err := large.Resolve(t.Context(), one["large"].Digest)
	if err == nil {
		err = large.Manifests().Delete(t.Context(), gone)
	}
	if err != nil {
		t.Fatal(err)
	}
	if o := observed(0, "small"); !o.Missing["large"] {
		t.Errorf("a deleted manifest: %+v", o)
	}
	if again := publish(first, 1); again["large"] != one["large"] {
		t.Errorf("published again: %v, was %v", again["large"], one["large"])
	}

	if err := p.Remove(t.Context(), []string{"large", "small"}); err != nil {
		t.Fatal(err)
	}
	observed(0)
	publish(first, 2)
	// A manifest with a tag of other people is not removed, and neither is their tag.
	var manifest ocispec.Descriptor
	manifest, err = large.Resolve(t.Context(), "latest")
	if err == nil {
		err = large.Tag(t.Context(), manifest, "theirs")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Remove(t.Context(), []string{"large"}); err == nil || !strings.Contains(err.Error(), `the tag "theirs"`) {
		t.Errorf("another tag: %v", err)
	}
	observed(1, "large", "small")
}

// withOtherFiles pushes a copy of a manifest, with the same annotations but other files.
func withOtherFiles(t *testing.T, r *remote.Repository, digest string) ocispec.Descriptor {
	t.Helper()
	at, err := r.Resolve(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	text, err := content.FetchAll(t.Context(), r.Manifests(), at)
	if err != nil {
		t.Fatal(err)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	var files bytes.Buffer
	w := gzip.NewWriter(&files)
	if _, err := w.Write([]byte("other files")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	layer := content.NewDescriptorFromBytes(manifest.Layers[0].MediaType, files.Bytes())
	manifest.Layers[0] = layer
	text, err = json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	pushed := content.NewDescriptorFromBytes(manifest.MediaType, text)
	for _, blob := range []struct {
		ocispec.Descriptor
		bytes []byte
	}{{layer, files.Bytes()}, {pushed, text}} {
		if err := r.Push(t.Context(), blob.Descriptor, bytes.NewReader(blob.bytes)); err != nil {
			t.Fatal(err)
		}
	}
	return pushed
}
