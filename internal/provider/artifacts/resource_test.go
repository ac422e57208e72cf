package artifacts_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// run is a kalypso_oci_artifacts of a delivered rendering.
type run struct {
	acc.ProtocolRun
	repo   string
	server *registryserver.Server
	given  map[string]any
}

func newRun(t *testing.T, options ...registryserver.Option) *run {
	t.Helper()
	r := &run{repo: gitserver.InitBare(t), server: registryserver.Start(t, options...)}
	r.T, r.Resource = t, protocol.Resource{Type: "kalypso_oci_artifacts"}
	r.given = map[string]any{
		"gitops_repo": map[string]any{"repo": r.repo, "branch": "stage", "path": "fleet"},
		"repository":  registry.Scheme + r.server.Host + "/fleet/stage", "tags": []any{"latest"},
	}
	return r
}

// deliver delivers folders to the branch, and sets the argument commit to the commit that did it.
func (r *run) deliver(folders map[string]string) string {
	r.T.Helper()
	commit := acc.SeedDelivery(r.T, r.repo, nil, folders)
	r.given["commit"] = commit
	return commit
}

// applies applies the arguments, expects an empty plan after it, and returns the plan and the state.
func (r *run) applies() (plan, state map[string]string) {
	r.T.Helper()
	plan, state = r.Run(r.given, r.given)
	if again, _ := r.plans(); again != nil && again.Changes() {
		r.T.Fatalf("the plan is not empty:\n%v\nstate:\n%v", protocol.Lines(again.Planned), state)
	}
	return plan, state
}

// plans refreshes the state, and plans the arguments.
func (r *run) plans() (*protocol.Plan, protocol.Diagnostics) {
	r.T.Helper()
	s := r.Start()
	if ds := s.Refresh(r.T.Context(), &r.Resource); ds.HasErrors() {
		r.T.Fatalf("refresh: %s", ds)
	}
	return s.Plan(r.T.Context(), &r.Resource, maps.Clone(r.given))
}

// TestLife takes a resource from its first plan to its destroy: the first apply, a change, drift of tags and manifests,
// and the removal of a cluster type.
func TestLife(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.given["on_destroy"] = "remove"
	commit := r.deliver(map[string]string{"large": "a: 1\n", "small": "a: 1\n"})

	// A commit that is not known yet.
	r.given["commit"] = protocol.Unknown
	if made, ds := r.plans(); made == nil || protocol.Lines(made.Planned)["artifacts"] != "(known after apply)" {
		t.Errorf("an unknown commit: %v\n%s", made, ds)
	}
	r.given["commit"] = commit
	plan, first := r.applies()
	tree := first["artifacts.large.tree_hash"]
	ref := `"` + r.server.Host + "/fleet/stage/large:" + strings.Trim(tree, `"`) + `"`
	const digest = "artifacts.large.digest"
	if plan["artifacts.large.tree_hash"] != tree || plan["artifacts.large.ref"] != ref ||
		plan[digest] != "(known after apply)" || !strings.HasPrefix(first[digest], `"sha256:`) {
		t.Errorf("plan %v\nstate %v", plan, first)
	}

	// A resource in another state adopts the artifacts, without a new upload.
	state := r.Resource
	r.Resource = protocol.Resource{Type: r.Resource.Type}
	r.server.Requests()
	if _, again := r.applies(); !maps.Equal(first, again) || r.server.Requests()[http.MethodPut] > 0 {
		t.Errorf("another state: %v, want %v", again, first)
	}
	r.Resource = state

	r.deliver(map[string]string{"large": "a: 2\n", "small": "a: 1\n"})
	plan, second := r.applies()
	if plan["artifacts.small.digest"] != first["artifacts.small.digest"] || second[digest] == first[digest] {
		t.Errorf("plan %v\nstate %v", plan, second)
	}

	large := r.open("large")
	moved, err := large.Resolve(t.Context(), strings.Trim(tree, `"`))
	if err != nil {
		t.Fatal(err)
	}
	now := strings.Trim(second["artifacts.large.tree_hash"], `"`)
	for _, tag := range []string{now, "latest"} {
		if err := large.Tag(t.Context(), moved, tag); err != nil {
			t.Fatal(err)
		}
	}
	made, _ := r.plans()
	if was := protocol.Lines(r.Resource.State); was[digest] != first[digest] ||
		was["tags"] != "[]" || !made.Changes() {
		t.Errorf("moved tags: the state is %v", was)
	}
	if _, after := r.applies(); !maps.Equal(after, second) {
		t.Errorf("moved tags: %v, want %v", after, second)
	}

	gone, err := large.Resolve(t.Context(), now)
	if err == nil {
		err = large.Manifests().Delete(t.Context(), gone)
	}
	if err != nil {
		t.Fatal(err)
	}
	if plan, after := r.applies(); !maps.Equal(after, second) || plan[digest] != "(known after apply)" {
		t.Errorf("a deleted manifest: plan %v\nstate %v", plan, after)
	}

	r.deliver(map[string]string{"small": "a: 1\n"})
	if _, after := r.applies(); slices.ContainsFunc(slices.Collect(maps.Keys(after)), func(at string) bool {
		return strings.HasPrefix(at, "artifacts.large")
	}) {
		t.Errorf("a removed cluster type: %v", after)
	}
	if _, err := large.Resolve(t.Context(), "latest"); err == nil {
		t.Error("the artifact of a removed cluster type has the tag latest")
	}
	r.Destroy()
	if _, err := r.open("small").Resolve(t.Context(), "latest"); err == nil {
		t.Error("after a destroy, the artifact has the tag latest")
	}
}

// TestKeep: without a commit, nothing is published and nothing removed. Without on_destroy, artifacts stay in the
// registry after the removal of their cluster type, a change of the repository, and a destroy.
func TestKeep(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	commit := r.deliver(map[string]string{"large": "a: 1\n", "small": "a: 1\n"})
	r.given["commit"] = nil
	if _, state := r.applies(); state["artifacts"] != "{}" {
		t.Errorf("without a commit: %v", state)
	}
	r.given["commit"] = commit
	_, first := r.applies()
	r.given["commit"] = nil
	if _, state := r.applies(); state["artifacts.large.digest"] != first["artifacts.large.digest"] {
		t.Errorf("after the removal of the commit: %v", state)
	}
	here := r.given["repository"]
	r.given["repository"] = acc.As[string](here) + "2"
	if made, ds := r.plans(); made != nil || !strings.Contains(ds.String(), "Another repository needs a commit") {
		t.Errorf("another repository without a commit: %s", ds)
	}
	r.deliver(map[string]string{"small": "a: 2\n"})
	r.applies()
	r.Destroy()
	for _, repository := range []any{here, r.given["repository"]} {
		r.given["repository"] = repository
		if _, err := r.open("small").Resolve(t.Context(), "latest"); err != nil {
			t.Errorf("%s: %v", repository, err)
		}
	}
	r.given["repository"] = here
	if _, err := r.open("large").Resolve(t.Context(), "latest"); err != nil {
		t.Error(err)
	}
}
