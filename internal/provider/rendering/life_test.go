package rendering_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccRenderingLife takes a rendering from an empty repo to its destruction, among foreign files.
func TestAccRenderingLife(t *testing.T) {
	t.Parallel()
	const promoted = "7f1ed002ab5595859014ebf0951522d9d3e2b5b1"
	r := newRendering(t, gitserver.InitBare(t))
	r.options("promoted_commit", promoted)
	r.expectRefused([]string{"Branch not found", "create_branch = true"}, "plan")
	r.options("create_branch", true)
	r.expectCommits(1)
	const promotedFile = ".github/tracking/Promoted_Commit_Id"
	r.expectFiles("dev", append(defaultPaths(""), promotedFile)...)
	files := gitserver.Tree(t, r.repo, "dev")
	for path, want := range map[string]string{
		promotedFile:                  promoted,
		"large/README.md":             "This folder contains deployment targets scheduled on the cluster type",
		"small/app-c/reconciler.yaml": "# value: 1 in dev-small-app-c\n",
		"large/app-a/namespace.yaml":  "# value: 1 in dev-large-app-a\n",
		".kalypso/rendering.json":     acc.ReadFile(t, "testdata/rendering/record.json"),
	} {
		if diff := cmp.Diff(want, files[path]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	author := gitserver.Git(t, r.repo, "log", "-1", "--format=%an <%ae>, %cn <%ce>%n%B", "dev")
	want := "Platform <platform@acme.io>, Platform <platform@acme.io>\n" +
		"Render environment dev\n\nlarge: +2 -0 ~0\nsmall: +1 -0 ~0\n\nPromoted commit: " + promoted + "\n\n"
	if diff := cmp.Diff(want, author); diff != "" {
		t.Errorf("the commit (-want +got):\n%s", diff)
	}

	others := r.others()
	r.ExpectEmptyPlan()
	first := r.Rendered()
	r.Set("value", "2")
	r.expectCommits(1)
	expectChanges(t, map[string]any{"large": "+0 -0 ~2", "small": "+0 -0 ~1"}, first, r.Rendered())
	r.expectOthers(others)

	// A change that renders the same bytes makes no commit, and the results of the last commit stay.
	before := r.Rendered()
	r.options("commit_message", "Another", "manifests", map[string]string{
		"https://acme.io/base@" + promoted + ":configs.yaml": "apiVersion: v1\nkind: ConfigMap\n" +
			"metadata: {name: none, labels: {platform-config: 'true', type: none}}\ndata: {}\n",
	})
	r.expectCommits(0)
	now := r.Rendered()
	for _, kept := range []string{"description", "commit_sha", "tree_hash", "folders", "assignments"} {
		if diff := cmp.Diff(before[kept], now[kept]); diff != "" {
			t.Errorf("%s (-before +after):\n%s", kept, diff)
		}
	}
	r.Set("value", "3")
	r.expectCommits(1)
	if got := gitserver.Log(t, r.repo, "dev")[0]; got != "Another" {
		t.Errorf("the commit's message is %q", got)
	}

	r.expectRefused([]string{"The rendering is protected", "deletion_protection = false"}, "destroy", "-auto-approve")
	r.options("deletion_protection", false)
	r.expectRefused([]string{"The rendering is protected"}, "destroy", "-auto-approve") // not applied yet
	r.expectCommits(0)
	r.Succeed("destroy", "-auto-approve", "-no-color")
	r.expectFiles("dev", append(slices.Collect(maps.Keys(others)), promotedFile)...)
	r.expectOthers(others)
	if got := len(gitserver.Log(t, r.repo, "dev")); got != 5 {
		t.Errorf("%d commits, want 5: the destruction is one", got)
	}
	gitserver.Fsck(t, r.repo)
}

// TestAccRenderingPromotedCommit: a change of the promoted commit alone makes a commit. A foreign change of the file
// with the promoted commit is no drift.
func TestAccRenderingPromotedCommit(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.expectCommits(1)
	r.options("promoted_commit", strings.Repeat("1", 40))
	r.expectCommits(1)
	gitserver.Seed(t, r.repo, "dev", map[string]string{".github/tracking/Promoted_Commit_Id": "of another rendering"})
	r.ExpectEmptyPlan()
	r.options("promoted_commit", strings.Repeat("2", 40))
	r.expectCommits(1)
	if got := gitserver.Tree(t, r.repo, "dev")[".github/tracking/Promoted_Commit_Id"]; got != strings.Repeat("2", 40) {
		t.Errorf("the promoted commit is %q", got)
	}
	r.options("promoted_commit", nil)
	r.expectCommits(1)
}

// TestAccRenderingMoves: another path, branch or repo is an update. The apply writes the new location, and then removes
// the tree at the previous location.
func TestAccRenderingMoves(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.expectCommits(1)
	others := r.others()
	r.setDestination("path", "clusters")
	r.expectRefused([]string{"Change exceeds guardrails", "moves away from path \".\" on branch \"dev\"",
		"all 3 deployment target folders",
		"Clusters that still sync from there would delete", `Set on_move = "keep"`, "large/app-a"}, "plan")
	r.options("guardrails", anyRemoval)
	mine := slices.Collect(maps.Keys(others))

	// On one branch, each move is one commit: into a subfolder of its own, deeper, to a sibling, and back.
	for _, path := range []string{"clusters", "clusters/dev", "./", "large/dev", "elsewhere/", "elsewhere"} {
		r.setDestination("path", path)
		if path == "elsewhere" {
			r.expectCommits(0) // the same path, without the slash
		} else {
			r.expectUpdate(1)
		}
		r.expectFiles("dev", append(defaultPaths(path), mine...)...)
		r.expectOthers(others)
		for _, name := range []string{"large", "small"} {
			if got := asMap(asMap(r.Rendered()["folders"])[name])["path"]; got != filepath.Join(path, name) {
				t.Errorf("at %q the folder of %s is %v", path, name, got)
			}
		}
	}

	// To another branch: foreign files stay on the previous branch.
	r.setDestination("branch", "stage", "path", ".")
	r.expectUpdate(1) // the commit that cleans up the previous branch
	r.expectFiles("stage", defaultPaths("")...)
	r.expectFiles("dev", mine...)

	// To another repo, with another tree. If the clean-up fails, the apply fails, and the next apply repeats the clean-up.
	gitserver.Hook(t, r.repo, "pre-receive", "stage is frozen", 1)
	first := r.repo
	r.repo = gitserver.InitBare(t)
	r.setDestination("repo", "file://"+r.repo, "branch", "dev")
	r.Set("value", "2")
	before := r.Rendered()
	r.ExpectError([]string{"stage is frozen", "was not cleaned up"}, "apply", "-auto-approve", "-no-color")
	if diff := cmp.Diff(before, r.Rendered()); diff != "" {
		t.Errorf("the state changed (-before +after):\n%s", diff)
	}
	if err := os.Remove(filepath.Join(first, "hooks", "pre-receive")); err != nil {
		t.Fatal(err)
	}
	r.expectCommits(0)
	r.expectFiles("dev", defaultPaths("")...)
	r.repo = first
	r.expectFiles("stage")
}

// TestAccRenderingMoveKeepsOldLocation: with on_move = "keep", a move does not empty a branch that clusters follow,
// with any guardrails. The rendering can move back, and destroys only the last location.
func TestAccRenderingMoveKeepsOldLocation(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true, "guardrails", map[string]any{"max_removed": "0"}, "deletion_protection", false)
	r.setDestination("path", "old")
	r.expectCommits(1)
	r.setDestination("branch", "stage")
	r.expectRefused([]string{"Change exceeds guardrails", `branch "dev"`, "would delete"}, "plan")
	r.options("on_move", "keep")
	warned := strings.Join(strings.Fields(r.Succeed("plan", "-no-color").Text()), " ")
	acc.ExpectTexts(t, warned, "Warning: Previous location is kept", `path "old" on branch "dev"`,
		"old/.kalypso/rendering.json old/large (2 deployment targets) old/small (1 deployment target)",
		"Remove the old folders")
	r.expectUpdate(0)
	r.expectFiles("dev", defaultPaths("old")...)
	r.expectFiles("stage", defaultPaths("old")...)
	r.setDestination("branch", "dev")
	r.expectCommits(0)
	// A move within the branch works too, but not to a path below the kept one.
	r.setDestination("path", "old/new")
	r.expectRefused([]string{`on_move = "keep" also leaves this rendering at path "old"`, "Choose a path beside it"},
		"plan")
	r.setDestination("path", "new")
	r.expectCommits(1)
	r.expectFiles("dev", append(defaultPaths("old"), defaultPaths("new")...)...)
	r.Succeed("destroy", "-auto-approve")
	r.expectFiles("dev", defaultPaths("old")...)
	r.expectFiles("stage", defaultPaths("old")...)

	// The commands in the guide remove the kept folders.
	_, way, _ := strings.Cut(acc.ReadFile(t, "../../../templates/guides/branch.md"), "## Remove the old folders")
	block := acc.Fenced.FindStringSubmatch(way)
	if block == nil {
		t.Fatal("the guide has no commands that remove the kept folders")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", strings.ReplaceAll(block[2], "https://github.com/acme/gitops",
		"file://"+r.repo))
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GIT_AUTHOR_NAME=Somebody", "GIT_AUTHOR_EMAIL=somebody@acme.io",
		"GIT_COMMITTER_NAME=Somebody", "GIT_COMMITTER_EMAIL=somebody@acme.io")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r.expectFiles("dev")
}

// TestAccRenderingPlanTimeout: timeouts.update limits the plan of an update, and timeouts.create limits the plan of a
// create.
func TestAccRenderingPlanTimeout(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true, "timeouts", map[string]any{"create": "1ns"}, "guardrails", anyRemoval)
	r.expectRefused([]string{"Timeout exceeded"}, "plan")
	r.options("timeouts", nil)
	r.expectCommits(1)
	r.setDestination("branch", "stage") // the plan reads the new location
	r.options("timeouts", map[string]any{"create": "1ns"})
	expectInPlace(t, r.Succeed("plan", "-no-color"))
	r.options("timeouts", map[string]any{"update": "1ns"})
	r.expectRefused([]string{"Timeout exceeded"}, "plan")
}

// TestAccRenderingSameRepoByOtherURL: another URL of the same repo is the same destination, even if only the content of
// the repo shows that.
func TestAccRenderingSameRepoByOtherURL(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.expectCommits(1)
	r.setDestination("repo", "file://"+strings.TrimSuffix(r.repo, ".git")+"/../repo.git/")
	r.expectCommits(0)
	_, url := gitserver.Serve(t, r.repo)
	r.setDestination("repo", url)
	r.options("guardrails", anyRemoval)
	out := r.expectUpdate(0)
	if !strings.Contains(out.Text(), "Previous location was not cleaned up") {
		t.Errorf("the apply does not mention the previous location:\n%s", out.Stdout)
	}
	r.setDestination("repo", "file://"+r.repo)
	r.Set("value", "2")
	r.expectCommits(1)
	r.expectFiles("dev", defaultPaths("")...)
}

// TestAccRenderingWithoutDelivery: the strategy none needs no server and writes nothing. A rendering can change from
// this strategy to push and back.
func TestAccRenderingWithoutDelivery(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	r := newRendering(t, repo)
	r.setDestination("repo", "https://127.0.0.1:1/nobody/answers")
	r.options("delivery", map[string]any{"strategy": "none"})
	r.Apply()
	r.ExpectEmptyPlan()
	first := r.Rendered()
	r.Set("value", "2")
	r.Apply()
	r.ExpectEmptyPlan()
	state := r.Rendered()
	expectChanges(t, map[string]any{"large": "+0 -0 ~2", "small": "+0 -0 ~1"}, first, state)
	if state["commit_sha"] != nil || state["tree_hash"] == nil {
		t.Errorf("commit_sha is %v and tree_hash %v", state["commit_sha"], state["tree_hash"])
	}

	r.setDestination("repo", "file://"+repo)
	r.options("delivery", map[string]any{"strategy": "push"}, "create_branch", true)
	r.expectCommits(1)
	now := r.Rendered()
	expectChanges(t, map[string]any{}, state, now)
	if now["tree_hash"] != state["tree_hash"] || now["commit_sha"] != r.head() {
		t.Errorf("tree_hash went from %v to %v, commit_sha is %v, the head %s", state["tree_hash"], now["tree_hash"],
			now["commit_sha"], r.head())
	}

	r.options("delivery", map[string]any{"strategy": "none"})
	r.setDestination("repo", "https://127.0.0.1:1/nobody/answers")
	if planned := r.Succeed("plan", "-refresh=false", "-no-color").Text(); !strings.Contains(planned,
		"The delivered tree stays on the branch") {
		t.Errorf("the plan does not say that the tree stays:\n%s", planned)
	}
	r.Apply("-refresh=false")
	r.ExpectEmptyPlan()
	if commit := r.Rendered()["commit_sha"]; commit != nil {
		t.Errorf("commit_sha is %v", commit)
	}
	r.Succeed("destroy", "-auto-approve")
	r.expectFiles("dev", defaultPaths("")...)
}

// TestAccTerraformTest: terraform test applies a fleet that is only computed, and cleans up without an error:
// deletion_protection has nothing to protect. A delivered rendering is still protected.
func TestAccTerraformTest(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("delivery", map[string]any{"strategy": "none"})
	r.Write("tests/fleet.tftest.hcl", `run "fleet" {
  command = apply
  assert {
    condition     = keys(kalypso_environment_rendering.this.assignments["large"]) == tolist(["app-a", "app-b"])
    error_message = "The targets of large are others."
  }
}
`)
	if out := r.Succeed("test", "-no-color").Text(); !strings.Contains(out, "1 passed, 0 failed") {
		t.Errorf("the test: %s", out)
	}
	r.options("delivery", nil, "create_branch", true)
	r.expectCommits(1)
	r.options("delivery", map[string]any{"strategy": "none"})
	r.expectRefused([]string{"The rendering is protected"}, "destroy", "-auto-approve")
}

// TestAccRenderingGuardrails: a change that removes too much fails the plan, which lists what it would remove.
func TestAccRenderingGuardrails(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.Set("targets", map[string]string{"a": "large", "b": "large", "c": "small", "d": "small"})
	r.expectCommits(1)

	refused := func(texts ...string) {
		t.Helper()
		r.expectRefused(append(texts, "Change exceeds guardrails"), "plan")
	}
	r.Set("targets", map[string]string{"a": "large"})
	refused(`removes 3 of 4`, `"50%"`, "large/app-b", "small/app-c", "small/app-d")
	r.options("guardrails", map[string]any{"max_removed": "2"})
	refused(`removes 3 of 4`, `"2"`)
	r.Set("targets", map[string]string{})
	r.options("guardrails", map[string]any{"max_removed": "100%"})
	refused("removes all 4", "allow_empty")
	r.options("guardrails", map[string]any{"allow_empty": true})
	refused("removes 4 of 4", "max_removed")

	// A folder whose files all become empty counts as removed.
	r.options("guardrails", nil)
	r.Set("targets", map[string]string{"a": "large", "b": "large", "c": "small", "d": "small"})
	r.Set("values", map[string]string{"a": "''", "b": "''", "c": "''"})
	refused(`removes 3 of 4`)
	r.Set("value", "''")
	refused("removes all 4")
	r.Set("value", "1")
	r.Set("values", map[string]string{})

	// Another environment at the same destination would remove everything.
	r.Set("environment", "stage")
	r.expectRefused([]string{"removes all 4", "allow_empty", "The environment is replaced",
		`The rendering of environment "dev" at`}, "plan")
	r.options("guardrails", map[string]any{"max_removed": "100%", "allow_empty": true})
	r.expectCommits(1)
	if !strings.Contains(gitserver.Tree(t, r.repo, "dev")[".kalypso/rendering.json"], `"environment": "stage"`) {
		t.Error("the record does not name the new environment")
	}
	r.options("guardrails", map[string]any{"max_removed": "3"})
	r.Set("targets", map[string]string{"a": "large"})
	emptied := []string{"Cluster types lose all their deployment targets", "small: 2 deployment targets"}
	r.options("accepted_changes", []string{r.refusedID(emptied)})
	r.expectCommits(1)
	if out := r.expectCommits(0); !strings.Contains(out.Text(), "Accepted changes are no longer needed") {
		t.Errorf("the plan does not note that the ID is no longer needed:\n%s", out.Stdout)
	}
	r.expectFiles("dev", paths("", "large", "large/app-a", "small")...)
}
