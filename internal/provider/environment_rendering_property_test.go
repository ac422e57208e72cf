package provider_test

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// change is what a saved plan does to a resource.
type change struct {
	Actions []string
	Before  map[string]any
	After   map[string]any
	// Unknown is true, or the members that are, for each attribute of which something is not known.
	Unknown map[string]any `json:"after_unknown"`
}

// plan makes a saved plan, and returns what it changes by address.
func (r *root) plan(args ...string) map[string]change {
	r.t.Helper()
	r.succeed(append([]string{"plan", "-no-color", "-out=plan"}, args...)...)
	var shown struct {
		ResourceChanges []struct {
			Address string
			Change  change
		} `json:"resource_changes"`
	}
	r.show(&shown, "plan")
	all := map[string]change{}
	for _, c := range shown.ResourceChanges {
		all[c.Address] = c.Change
	}
	return all
}

// applyPlan applies the saved plan.
func (r *root) applyPlan() {
	r.t.Helper()
	r.succeed("apply", "-no-color", "plan")
}

// state is the values of the resources in state, by address.
func (r *root) state() map[string]map[string]any {
	r.t.Helper()
	var shown struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address string
					Values  map[string]any
				}
			} `json:"root_module"`
		}
	}
	r.show(&shown)
	all := map[string]map[string]any{}
	for _, resource := range shown.Values.RootModule.Resources {
		all[resource.Address] = resource.Values
	}
	return all
}

// expectOnBranch compares the values of a rendering with what its branch holds, by git.
func expectOnBranch(t *testing.T, repo, branch, at string, state map[string]any) {
	t.Helper()
	files := archive(t, repo, branch)
	record := path.Join(at, recordPath)
	if _, there := files[record]; !there {
		t.Errorf("%s is not on the branch", record)
	}
	delete(files, record)
	assignments, folders, targets := map[string]any{}, map[string]any{}, 0
	var entries strings.Builder // of a tree that holds our folders alone
	for line := range strings.SplitSeq(gitserver.Git(t, repo, "ls-tree", branch+":"+strings.TrimPrefix(at, ".")), "\n") {
		_, name, _ := strings.Cut(line, "\t")
		if !strings.Contains(line, " tree ") || strings.HasPrefix(name, ".") {
			continue
		}
		entries.WriteString(line + "\n")
		folders[name] = path.Join(at, name)
		placed := []any{}
		for target := range strings.FieldsSeq(gitserver.Git(t, repo, "ls-tree", "-d", "--name-only", branch+":"+path.Join(at, name))) {
			placed = append(placed, target)
		}
		assignments[name] = placed
		targets += len(placed)
	}
	want := map[string]any{
		"assignments":      assignments,
		"assignment_count": float64(targets),
		"folders":          folders,
		"files":            anyMap(files),
		"tree_hash":        gitserver.MkTree(t, repo, entries.String()),
	}
	switch state["preview"] {
	case "none":
		want["assignments"], want["files"] = nil, nil
	case "assignments", nil:
		want["files"] = nil
	}
	for attribute, held := range want {
		if diff := cmp.Diff(held, state[attribute]); diff != "" {
			t.Errorf("%s (-branch +state):\n%s", attribute, diff)
		}
	}
	if promoted := state["promoted_commit"]; promoted != nil && files[promotedCommitPath] != promoted {
		t.Errorf("%s holds %q, want %q", promotedCommitPath, files[promotedCommitPath], promoted)
	}
}

func anyMap(m map[string]string) map[string]any {
	all := make(map[string]any, len(m))
	for k, v := range m {
		all[k] = v
	}
	return all
}

func (r *root) show(into any, args ...string) {
	r.t.Helper()
	out := r.succeed(append([]string{"show", "-json"}, args...)...)
	if err := json.Unmarshal([]byte(out.stdout), into); err != nil {
		r.t.Fatal(err)
	}
}

// archive is every file of a branch, read by one git.
func archive(t *testing.T, repo, branch string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for all := tar.NewReader(strings.NewReader(gitserver.Git(t, repo, "archive", branch))); ; {
		header, err := all.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(all)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files[header.Name] = string(content)
		}
	}
}
