package rendering_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A change of preview writes nothing, since every preview shows the same tree. If only the promoted commit changes, the
// commit on the branch contains only the file with the promoted commit, and the record.
func TestAccPreview(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccPreview")
	repo := gitserver.InitBare(t)
	r.Env = append(r.Env, "TF_VAR_repo="+repo)
	const address = "kalypso_environment_rendering.this"

	assignments := map[string]any{"large": []any{}, "small": []any{"hello-test"}}
	files := map[string]any{
		"large/README.md":                  "This folder contains deployment targets scheduled on the cluster type",
		"small/README.md":                  "This folder contains deployment targets scheduled on the cluster type",
		"small/hello-test/reconciler.yaml": "# name: dev-small-hello-test\n",
		"small/hello-test/namespace.yaml":  "# name: dev-small-hello-test\n",
		// The file of the built-in config template.
		"small/hello-test/platform-config.yaml": nil,
	}
	var first map[string]any
	for i, step := range []struct {
		preview            any
		assignments, files bool
	}{
		{nil, true, false},
		{"none", false, false},
		{"manifests", true, true},
		{"summary", false, false},
		{"assignments", true, false},
		{"manifests", true, true},
		{"none", false, false},
	} {
		name := fmt.Sprintf("step %d, preview %v", i, step.preview)
		r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"preview": step.preview}))
		c := r.Plan()[address]
		r.ApplyPlan()
		state := r.State()[address]
		if first == nil {
			first = state
		} else {
			expectUnknown(t, c, nothing)
			for _, attribute := range []string{"description", "commit_sha"} {
				if c.Unknown[attribute] == true {
					t.Errorf("%s: %s is planned as unknown", name, attribute)
				}
			}
		}
		expectApplied(t, c, state)
		wantAssignments, wantFiles := map[string]any{}, any(nil)
		if step.assignments {
			wantAssignments = assignments
		}
		if step.files {
			wantFiles = files
			asMap(state["files"])["small/hello-test/platform-config.yaml"] = nil
		}
		if diff := cmp.Diff(wantAssignments, placed(state["assignments"])); diff != "" {
			t.Errorf("%s: assignments (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(wantFiles, state["files"]); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", name, diff)
		}
		wantFolders, wantSummary := first["folders"], any(nil)
		switch step.preview {
		case "none":
			wantFolders = nil
		case "summary":
			wantFolders, wantSummary = nil, map[string]any{}
			for clusterType, folder := range asMap(first["folders"]) {
				f := acc.As[map[string]any](folder)
				line := fmt.Sprintf("%v targets, tree %.12s", f["assignments"], f["tree_hash"])
				asMap(wantSummary)[clusterType] = strings.Replace(line, "1 targets", "1 target", 1)
			}
		}
		if diff := cmp.Diff([]any{wantFolders, wantSummary}, []any{state["folders"], state["summary"]}); diff != "" {
			t.Errorf("%s: folders and summary (-want +got):\n%s", name, diff)
		}
		for _, attribute := range []string{
			"assignment_count", "unscheduled", "description", "tree_hash", "commit_sha",
		} {
			if diff := cmp.Diff(first[attribute], state[attribute]); diff != "" {
				t.Errorf("%s: %s (-before +after):\n%s", name, attribute, diff)
			}
		}
		if log := gitserver.Log(t, repo, "dev"); len(log) != 1 {
			t.Errorf("%s: commits on the branch: %q", name, log)
		}
	}

	for _, promoted := range []string{"c1", "c2"} {
		r.Env = append(r.Env, "TF_VAR_promoted_commit="+promoted)
		r.Apply()
		r.ExpectEmptyPlan()
		state := r.State()[address]
		if state["tree_hash"] != first["tree_hash"] || state["commit_sha"] != gitserver.Rev(t, repo, "dev") {
			t.Errorf("promoted: tree_hash is %v, commit_sha is %v", state["tree_hash"], state["commit_sha"])
		}
		touched := strings.Fields(gitserver.Git(t, repo, "diff-tree", "-r", "--no-commit-id", "--name-only", "dev"))
		if diff := cmp.Diff([]string{acc.PromotedCommitPath, acc.RecordPath}, touched); diff != "" {
			t.Errorf("promoted: paths of the commit (-want +got):\n%s", diff)
		}
		if got := gitserver.Tree(t, repo, "dev")[acc.PromotedCommitPath]; got != promoted {
			t.Errorf("%s contains %q, want %q", acc.PromotedCommitPath, got, promoted)
		}
	}
	if log := gitserver.Log(t, repo, "dev"); len(log) != 3 {
		t.Errorf("commits on the branch: %q", log)
	}
}
