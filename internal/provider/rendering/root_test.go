package rendering_test

import (
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// rendering is a root module with a rendering, and the bare repo that it is delivered to.
type rendering struct {
	*acc.Root
	repo string
}

// newRendering makes a root module of testdata/rendering that renders to the branch "dev" of a repo.
func newRendering(t *testing.T, repo string) *rendering {
	t.Helper()
	r := &rendering{acc.NewRootFrom(t, filepath.Join("testdata", "rendering")), repo}
	r.setDestination("branch", "dev")
	return r
}

// options sets arguments of the rendering, in pairs. Arguments that were set before stay.
func (r *rendering) options(pairs ...any) {
	r.T.Helper()
	r.merge("options", nil, pairs)
}

// anyRemoval are guardrails that allow every removal, since a move removes everything from the previous location.
var anyRemoval = map[string]any{"max_removed": "100%", "allow_empty": true}

// setDestination sets attributes of gitops_repo, in pairs.
func (r *rendering) setDestination(pairs ...any) {
	r.T.Helper()
	r.merge("place", map[string]any{"repo": "file://" + r.repo}, pairs)
}

func (r *rendering) merge(variable string, initial map[string]any, pairs []any) {
	r.T.Helper()
	all := maps.Clone(initial)
	if all == nil {
		all = map[string]any{}
	}
	if old, ok := r.Vars[variable].(map[string]any); ok {
		maps.Copy(all, old)
	}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			r.T.Fatalf("%v is no name", pairs[i])
		}
		all[name] = pairs[i+1]
	}
	r.Set(variable, all)
}

// head returns the head of the branch "dev".
func (r *rendering) head() string {
	r.T.Helper()
	return gitserver.Rev(r.T, r.repo, "dev")
}

// expectCommits applies the module, and returns the output of the apply. The test fails unless the apply makes this
// number of commits on the branch "dev" and the next plan is empty.
func (r *rendering) expectCommits(n int, args ...string) acc.Output {
	r.T.Helper()
	before := len(gitserver.Log(r.T, r.repo, "dev"))
	out := r.Apply(args...)
	if got := len(gitserver.Log(r.T, r.repo, "dev")) - before; got != n {
		r.T.Errorf("the apply made %d commits, want %d:\n%s", got, n, strings.Join(gitserver.Log(r.T, r.repo, "dev"), "\n"))
	}
	r.ExpectEmptyPlan()
	return out
}

// expectRefused expects a command to fail with all of the texts, and to change neither the branch "dev" nor the state.
func (r *rendering) expectRefused(texts []string, args ...string) {
	r.T.Helper()
	head, state := r.head(), r.Rendered()
	r.ExpectError(texts, append(args, "-no-color")...)
	if now := r.head(); now != head {
		r.T.Errorf("terraform %s moved the branch", strings.Join(args, " "))
	}
	if diff := cmp.Diff(state, r.Rendered()); diff != "" {
		r.T.Errorf("terraform %s changed the state (-before +after):\n%s", strings.Join(args, " "), diff)
	}
}

// expectFiles compares the paths of a branch's files.
func (r *rendering) expectFiles(branch string, want ...string) {
	r.T.Helper()
	got := slices.Sorted(maps.Keys(gitserver.Modes(r.T, r.repo, branch)))
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		r.T.Errorf("files of branch %s (-want +got):\n%s", branch, diff)
	}
}

// paths returns the paths of the files that testdata/rendering renders below a path.
func paths(below string, folders ...string) []string {
	all := []string{filepath.Join(below, ".kalypso/rendering.json")}
	for _, folder := range folders {
		if !strings.Contains(folder, "/") {
			all = append(all, filepath.Join(below, folder, "README.md"))
			continue
		}
		for _, file := range []string{"namespace.yaml", "platform-config.yaml", "reconciler.yaml"} {
			all = append(all, filepath.Join(below, folder, file))
		}
	}
	return all
}

// defaultPaths returns the paths that testdata/rendering renders by default.
func defaultPaths(below string) []string {
	return paths(below, "large", "large/app-a", "large/app-b", "small", "small/app-c")
}

// others commits foreign files of all modes of Git to the branch "dev", and returns them as [gitserver.Modes] does.
func (r *rendering) others() map[string]string {
	r.T.Helper()
	submodule := "6f1ed002ab5595859014ebf0951522d9d3e2b5b1"
	files := map[string]gitserver.File{
		"README.md":               {Mode: "100644", Content: "Ours.\n"},
		"run.sh":                  {Mode: "100755", Content: "#!/bin/sh\n"},
		"link":                    {Mode: "120000", Content: "README.md"},
		"vendor/module":           {Mode: "160000", Content: submodule},
		"team/large/README.md":    {Mode: "100644", Content: "Theirs.\n"},
		"team/link":               {Mode: "120000", Content: "../large"},
		"large.txt":               {Mode: "100644", Content: "No folder.\n"},
		".github/workflows/a.yml": {Mode: "100644", Content: "on: push\n"},
	}
	gitserver.SeedFiles(r.T, r.repo, "dev", "Of others", files)
	all := gitserver.Modes(r.T, r.repo, "dev")
	maps.DeleteFunc(all, func(path, _ string) bool { _, ok := files[path]; return !ok })
	return all
}

// expectOthers fails the test unless these files are on the branch "dev", with the same bytes and modes.
func (r *rendering) expectOthers(want map[string]string) {
	r.T.Helper()
	got := gitserver.Modes(r.T, r.repo, "dev")
	maps.DeleteFunc(got, func(path, _ string) bool { _, ok := want[path]; return !ok })
	if diff := cmp.Diff(want, got); diff != "" {
		r.T.Errorf("foreign files (-before +after):\n%s", diff)
	}
}

// expectUpdate does the same as expectCommits, and expects that the apply updates in place.
func (r *rendering) expectUpdate(commits int) acc.Output {
	r.T.Helper()
	out := r.expectCommits(commits)
	expectInPlace(r.T, out)
	return out
}

// expectInPlace fails the test unless a plan or an apply updates one resource in place.
func expectInPlace(t *testing.T, out acc.Output) {
	t.Helper()
	if !strings.Contains(out.Text(), "Plan: 0 to add, 1 to change, 0 to destroy.") {
		t.Errorf("the plan is no update in place:\n%s", out.Stdout)
	}
}

var privateOfResource = regexp.MustCompile(`"private": "[^"]*"`)

// replacePrivateState replaces the private state of all resources with a private state of another version.
func (r *rendering) replacePrivateState() {
	r.T.Helper()
	path := filepath.Join(r.Folder, "terraform.tfstate")
	text, err := os.ReadFile(path)
	if err == nil {
		other := base64.StdEncoding.EncodeToString([]byte(`{"delivery": "eyJ2ZXJzaW9uIjoxfQ=="}`)) // {"version":1}
		err = os.WriteFile(path, privateOfResource.ReplaceAll(text, []byte(`"private": "`+other+`"`)), 0o600)
	}
	if err != nil {
		r.T.Fatal(err)
	}
}
