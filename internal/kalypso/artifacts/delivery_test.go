package artifacts_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// TestOpen reads the delivery of the head and of earlier commits. A commit with which nothing was delivered is an
// error.
func TestOpen(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	none := gitserver.Seed(t, f.at.Repo, f.at.Branch, map[string]string{"README.md": "x\n"})
	first := f.deliver(t, twoTypes, "large", "small")
	removed := gitserver.SeedFiles(t, f.at.Repo, f.at.Branch, "remove", map[string]gitserver.File{
		"fleet/small/app/deploy.yaml": {}})
	newer := gitserver.Seed(t, f.at.Repo, f.at.Branch, map[string]string{f.at.RecordPath(): `{"version":2}`})
	last := f.deliver(t, twoTypes, "large")
	other := gitserver.Seed(t, f.at.Repo, "other", map[string]string{"README.md": "y\n"})
	for name, tt := range map[string]struct {
		commit string
		types  []string
		err    error
		says   string
	}{
		"first":                    {commit: first, types: []string{"large", "small"}},
		"head":                     {commit: last, types: []string{"large"}}, // the folder small is foreign
		"before the first":         {commit: none, err: artifacts.ErrNoRecord, says: "Nothing was delivered with the commit"},
		"a removed folder":         {commit: removed, err: artifacts.ErrNoFolder, says: "fleet/small"},
		"a newer record":           {commit: newer, err: record.ErrNewer, says: "upgrade the provider"},
		"commit of another branch": {commit: other, err: artifacts.ErrNoCommit, says: `branch "dev"`},
		"commit of no branch":      {commit: strings.Repeat("a", 40), err: artifacts.ErrNoCommit, says: "commit_sha"},
	} {
		d, err := artifacts.Open(t.Context(), f.client, f.at, tt.commit)
		if text := problemTexts(f, err); !errors.Is(err, tt.err) || !strings.Contains(text, tt.says) {
			t.Errorf("%s: %v, and its problem is %s", name, err, text)
		}
		if err != nil {
			continue
		}
		if got := slices.Sorted(maps.Keys(d.TreeHashes())); !slices.Equal(got, tt.types) {
			t.Errorf("%s: the cluster types are %v", name, got)
		}
		d.Close()
	}
}

// TestTwoMachines: the digest of an artifact depends only on its folder. So another machine that publishes a later
// commit to another registry gets the same digest for an unchanged folder. Annotations name the commit that last
// changed the folder.
func TestTwoMachines(t *testing.T) {
	f := newFleet(t)
	first := f.deliver(t, twoTypes, "large", "small")
	var want, got map[string]artifacts.Artifact
	one := publication(t, registryserver.Start(t).Host)
	want, _, err := f.publish(t, one, first)
	if err != nil {
		t.Fatal(err)
	}
	changed := f.deliver(t, map[string]string{"small/app/deploy.yaml": "kind: DaemonSet\n"}, "large", "small")
	last := f.deliver(t, map[string]string{"other/x.yaml": "a: 1\n"}, "large", "small")
	two := publication(t, registryserver.Start(t).Host)
	got, _, err = f.publish(t, two, last)
	if err != nil {
		t.Fatal(err)
	}
	if got["large"].Digest != want["large"].Digest || got["small"].Digest == want["small"].Digest {
		t.Errorf("another machine published %v, the first %v", got, want)
	}
	for clusterType, commit := range map[string]string{"large": first, "small": changed} {
		name, err := two.Base.Join(clusterType)
		if err != nil {
			t.Fatal(err)
		}
		r, err := two.Client.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		_, content, err := r.FetchReference(t.Context(), "latest")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		_ = content.Close()
		var manifest ocispec.Manifest
		if err != nil || json.Unmarshal(text, &manifest) != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{
			"org.opencontainers.image.source":   (&url.URL{Scheme: "file", Path: f.at.Repo}).String(),
			"org.opencontainers.image.revision": "dev@sha1:" + commit,
			"org.opencontainers.image.created":  createdOf(t, f.at.Repo, commit),
			registry.FolderAnnotation:           "fleet/" + clusterType,
			registry.TreeAnnotation:             got[clusterType].TreeHash,
		}, manifest.Annotations); diff != "" {
			t.Errorf("%s (-want +got):\n%s", clusterType, diff)
		}
	}
}

// createdOf returns the time of a commit, as in the annotation of an artifact.
func createdOf(t *testing.T, repo, commit string) string {
	t.Helper()
	const utc = "--date=format-local:%Y-%m-%dT%H:%M:%SZ"
	return strings.TrimSpace(gitserver.Git(t, repo, "log", "-1", utc, "--format=%cd", commit))
}
