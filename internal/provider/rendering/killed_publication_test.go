package rendering_test

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// publishing is a kalypso_oci_artifacts that publishes and signs what a killedRun delivers.
type publishing struct {
	artifacts protocol.Resource
	server    *registryserver.Server
	key       string // in PEM
}

// feedbackContext is the context of the status that a team gets.
const feedbackContext = "kalypso/dev"

// publishes lets the run publish its deliveries to a registry, and tell the team about workloads that fail to render.
func (r *killedRun) publishes() {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		r.T.Fatal(err)
	}
	r.publishing = &publishing{
		protocol.Resource{Type: "kalypso_oci_artifacts"}, registryserver.Start(r.T),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	}
	r.points = 6 // two of them in the publication
	r.team = r.fake.AddRepo(r.T, "acme/team")
	r.given["feedback"] = map[string]any{
		"status": map[string]any{"context": feedbackContext}, "issues": map[string]any{"repo": r.team.URL},
	}
}

// push commits the workloads to the team's repo, and returns the commit. Equal files make no commit.
func (r *killedRun) push(files map[string]string) (commit string) {
	r.T.Helper()
	now := gitserver.Rev(r.T, r.team.Path, "main")
	if now != "" && maps.Equal(gitserver.Tree(r.T, r.team.Path, now), files) {
		return now
	}
	return gitserver.Seed(r.T, r.team.Path, "main", files)
}

// commitOf returns the commit of a rendering: null before the first delivery, and unknown before an apply.
func commitOf(t *testing.T, state tftypes.Value) (commit any) {
	t.Helper()
	var attributes map[string]tftypes.Value
	if err := state.As(&attributes); err != nil {
		t.Fatal(err)
	}
	switch v := attributes["commit_sha"]; {
	case !v.IsKnown():
		return protocol.Unknown
	case v.IsNull():
		return nil
	default:
		var text string
		if err := v.As(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
}

// publicationOf returns the arguments that publish a commit.
func (r *killedRun) publicationOf(commit any) map[string]any {
	return map[string]any{
		"gitops_repo": r.given["gitops_repo"], "repository": "oci://" + r.server.Host + "/fleet", "tags": []any{"latest"},
		"commit": commit, "signing": map[string]any{"key": r.key},
	}
}

// planPublication refreshes and plans the publication of a commit.
func (r *killedRun) planPublication(commit any) (*protocol.Plan, protocol.Diagnostics) {
	r.T.Helper()
	s := r.startToSign()
	if ds := s.Refresh(r.T.Context(), &r.artifacts); ds.HasErrors() {
		return nil, ds
	}
	return s.Plan(r.T.Context(), &r.artifacts, r.publicationOf(commit))
}

// publish applies a planned publication.
func (r *killedRun) publish(ctx context.Context, plan *protocol.Plan, commit any) protocol.Diagnostics {
	r.T.Helper()
	after, ds := r.startToSign().Apply(ctx, plan, r.publicationOf(commit))
	if after != nil && !ds.HasErrors() {
		r.artifacts = *after
	}
	return ds
}

func (r *killedRun) startToSign() *protocol.Session {
	r.T.Helper()
	s := r.Start()
	s.WriteOnly = true
	return s
}

// killPublication kills the next apply at a writing request to the registry. Later requests don't arrive.
func (r *killedRun) killPublication(request int, kill func()) (point string) {
	left, served := request, r.IntN(2) == 0
	var mu sync.Mutex
	r.server.Fail(func(_ http.ResponseWriter, req *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if left > 0 && (req.Method == http.MethodGet || req.Method == http.MethodHead) {
			return false
		}
		left--
		if left == 0 {
			kill()
		}
		if left < 0 || left == 0 && !served {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	return fmt.Sprintf("at writing request %d to the registry, served: %t", request, served)
}

// expectPublished fails the test unless the tag latest of each cluster type names a signed artifact of the folder that
// the branch contains.
func (r *killedRun) expectPublished() {
	r.T.Helper()
	for _, clusterType := range r.types {
		tree := strings.TrimSpace(gitserver.Git(r.T, r.on.Path, "rev-parse", "dev:"+clusterType))
		digest, manifest := r.manifest(clusterType, "latest")
		if got := manifest.Annotations[registry.TreeAnnotation]; got != tree {
			r.fatalf("the tag latest of %s is of the tree %q, want %s", clusterType, got, tree)
		}
		for _, kind := range []string{"sig", "att"} {
			_, attached := r.manifest(clusterType, strings.Replace(digest, ":", "-", 1)+"."+kind)
			if n := len(attached.Layers); n != 1 {
				r.fatalf("the artifact of %s has %d documents .%s", clusterType, n, kind)
			}
		}
	}
}

// manifest reads a manifest with a tag, and its digest. It is empty if there is none.
func (r *killedRun) manifest(clusterType, tag string) (digest string, manifest ocispec.Manifest) {
	r.T.Helper()
	url := "http://" + r.server.Host + "/v2/fleet/" + clusterType + "/manifests/" + tag
	req, err := http.NewRequestWithContext(r.T.Context(), http.MethodGet, url, nil)
	if err != nil {
		r.T.Fatal(err)
	}
	req.Header.Set("Accept", ocispec.MediaTypeImageManifest)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.T.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&manifest); err != nil {
		r.T.Fatal(err)
	}
	return resp.Header.Get("Docker-Content-Digest"), manifest
}

// expectFeedback fails the test unless the team has one open issue for each workload that fails, and the status of its
// commit says whether one fails.
func (r *killedRun) expectFeedback() {
	r.T.Helper()
	var want, got []string
	state := "success"
	for _, name := range workloads {
		if r.broken[name] {
			want, state = append(want, name), "failure"
		}
	}
	for _, i := range r.team.Issues.All() {
		if !i.Closed && i.Author == hostfake.BotLogin {
			_, name, _ := strings.Cut(i.Title, "`")
			got = append(got, name[:1])
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.fatalf("open issues are about %q, want %q", got, want)
	}
	commit := gitserver.Rev(r.T, r.team.Path, "main")
	if status, _ := r.team.Status(commit, feedbackContext); status.State != state {
		r.fatalf("the status of the team's commit is %+v, want %s", status, state)
	}
}
