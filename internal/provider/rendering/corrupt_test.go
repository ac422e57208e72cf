package rendering_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// editPrivate changes the private state of the instances that edits names.
func (r *rendering) editPrivate(edits map[string]func([]byte) []byte) {
	r.T.Helper()
	path := filepath.Join(r.Folder, "terraform.tfstate")
	var state map[string]any
	if err := json.Unmarshal([]byte(acc.ReadFile(r.T, path)), &state); err != nil {
		r.T.Fatal(err)
	}
	edited := 0
	for _, resource := range acc.As[[]any](state["resources"]) {
		for _, instance := range acc.As[[]any](asMap(resource)["instances"]) {
			i := asMap(instance)
			key, _ := i["index_key"].(string)
			if edit := edits[key]; edit != nil {
				var private []byte
				if err := json.Unmarshal([]byte(acc.ToJSON(r.T, i["private"])), &private); err != nil {
					r.T.Fatal(err)
				}
				i["private"], edited = edit(private), edited+1
			}
		}
	}
	if edited != len(edits) {
		r.T.Fatalf("%d instances of %d are in the state", edited, len(edits))
	}
	if err := os.WriteFile(path, []byte(acc.ToJSON(r.T, state)), 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// editDelivery returns an edit of the state of the delivery, which the provider stores in private state.
func editDelivery(t *testing.T, edit func(*delivery.State)) func([]byte) []byte {
	t.Helper()
	return func(private []byte) []byte {
		var keys map[string][]byte
		if err := json.Unmarshal(private, &keys); err != nil {
			t.Fatal(err)
		}
		state, err := delivery.DecodeState(keys["delivery"])
		if err != nil {
			t.Fatal(err)
		}
		edit(state)
		keys["delivery"], err = state.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return []byte(acc.ToJSON(t, keys))
	}
}

// newInstances makes and applies a root module with one rendering per name, each to a branch of that name.
func newInstances(t *testing.T, names []string) *rendering {
	t.Helper()
	r := newRendering(t, gitserver.InitBare(t))
	r.Write("main.tf", strings.NewReplacer(
		`resource "kalypso_environment_rendering" "this" {`, `resource "kalypso_environment_rendering" "this" {
  for_each = toset(`+acc.ToJSON(t, names)+`)`,
		"= var.place", "= merge(var.place, { branch = each.key })",
	).Replace(acc.ReadFile(t, "testdata/rendering/main.tf")))
	r.options("create_branch", true)
	r.Apply()
	return r
}

// heads returns the heads of branches.
func (r *rendering) heads(branches []string) (all []string) {
	r.T.Helper()
	for _, branch := range branches {
		all = append(all, gitserver.Rev(r.T, r.repo, branch))
	}
	return all
}

// TestAccRenderingUnreadablePrivateState: if the private state is of another version, the provider reads its content
// again from the branch, and writes nothing.
func TestAccRenderingUnreadablePrivateState(t *testing.T) {
	t.Parallel()
	edits := map[string]func([]byte) []byte{
		"undecodable": func([]byte) []byte { return []byte(`{"delivery": "bm9uZQ=="}`) }, // the text none
		"no-base64":   func([]byte) []byte { return []byte(`{"delivery": "-"}`) },
		"later-version": editDelivery(t, func(s *delivery.State) {
			s.Version, s.LastRead.Head = 1000, s.LastRead.Head[1:]+"0" // so that the branch is compared
			for name, folder := range s.Delivered {
				folder.Hash[0]++
				s.Delivered[name] = folder
			}
		}),
	}
	names := slices.Sorted(maps.Keys(edits))
	r := newInstances(t, names)
	before := r.heads(names)
	r.editPrivate(edits)
	if out := r.Succeed("plan", "-no-color"); !strings.Contains(out.Text(), "No changes.") {
		t.Errorf("the plan is not empty:\n%s", out.Text())
	}
	r.Apply()
	if diff := cmp.Diff(before, r.heads(names)); diff != "" {
		t.Errorf("the branches moved (-before +after):\n%s", diff)
	}
	r.ExpectEmptyPlan()
}

// TestAccRenderingCorruptState: an unusable private state is an error that says what to do. It causes no write, and the
// advice in the error works.
func TestAccRenderingCorruptState(t *testing.T) {
	t.Parallel()
	const address = "kalypso_environment_rendering.this"
	const unreadable, another = "Private state can't be read", "Private state of another rendering"
	edits := map[string]func([]byte) []byte{
		"no-json":             func([]byte) []byte { return []byte("none") },
		"wrong-value":         func([]byte) []byte { return []byte(`{"nothing_to_do": "bm9uZQ=="}`) },
		"another-place":       editDelivery(t, func(s *delivery.State) { s.Destination.Path = "elsewhere" }),
		"another-environment": editDelivery(t, func(s *delivery.State) { s.Environment = "stage" }),
	}
	says := map[string][]string{}
	for name, summary := range map[string]string{
		"no-json": unreadable, "wrong-value": unreadable, "another-place": another, "another-environment": another,
	} {
		says[fmt.Sprintf("with %s[%q]", address, name)] = []string{summary, "terraform state rm", "terraform import"}
	}
	for name, why := range map[string]string{"no-json": "is damaged", "wrong-value": "was written by another version"} {
		at := fmt.Sprintf("with %s[%q]", address, name)
		says[at] = append(says[at], why)
	}
	names := slices.Sorted(maps.Keys(edits))
	r := newInstances(t, names)
	before := r.heads(names)
	expectHeads := func() {
		t.Helper()
		if diff := cmp.Diff(before, r.heads(names)); diff != "" {
			t.Errorf("the branches moved (-before +after):\n%s", diff)
		}
	}
	r.editPrivate(edits)
	state := r.State()
	r.options("deletion_protection", false)
	for _, command := range [][]string{
		{"plan"}, {"plan", "-refresh=false"}, {"apply", "-auto-approve"}, {"destroy", "-auto-approve"},
	} {
		r.ExpectErrors(says, append(command, "-no-color")...)
		expectHeads()
		if diff := cmp.Diff(state, r.State()); diff != "" {
			t.Errorf("%v changed the state (-before +after):\n%s", command, diff)
		}
	}
	r.options("deletion_protection", nil)

	r.Succeed("state", "rm", address)
	var blocks strings.Builder
	for _, name := range names {
		fmt.Fprintf(
			&blocks,
			"import {\n  to = %s[%q]\n  id = \"dev@file://%s//.?ref=%s\"\n}\n",
			address,
			name,
			r.repo,
			name,
		)
	}
	r.Write("import.tf", blocks.String())
	if out := r.Apply().Text(); !strings.Contains(out, fmt.Sprintf("%d imported, 0 added", len(names))) {
		t.Errorf("the import: %s", out)
	}
	expectHeads()
	r.ExpectEmptyPlan()
}
