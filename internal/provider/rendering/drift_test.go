package rendering_test

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccRenderingDrift: foreign changes of our folders stop the plan, with paths, commit and author, until the fleet
// renders them or they are overwritten.
func TestAccRenderingDrift(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.Apply()
	others := r.others()
	delivered := gitserver.Modes(t, r.repo, "dev")

	// Two commits change our folders. A commit between them does not.
	hotfix := gitserver.SeedFiles(t, r.repo, "dev", "Hotfix of app-a", map[string]gitserver.File{
		"large/app-a/reconciler.yaml": {Mode: "100644", Content: "by hand\n"},
		"large/app-a/new.yaml":        {Mode: "100644", Content: "by hand\n"},
	})
	elsewhere := gitserver.Seed(t, r.repo, "dev", map[string]string{"team/large/README.md": "Still theirs.\n"})
	gone := gitserver.SeedFiles(t, r.repo, "dev", "Away with small", map[string]gitserver.File{"small": {}})
	said := []string{
		"Drift: rendered folders changed outside Terraform", `on_drift = "overwrite"`,
		"commit " + hotfix + " by Somebody <somebody@acme.io> at 2023-11-14T22:13:20Z Hotfix of app-a " +
			"- large/app-a/new.yaml - large/app-a/reconciler.yaml",
		"commit " + gone, "Away with small - small/README.md - small/app-c/namespace.yaml",
	}
	r.expectRefused(said, "plan")
	r.Set("value", "2") // a plan with other changes reports the drift too
	r.expectRefused(said, "apply", "-auto-approve")
	r.Set("value", "1")
	if out := r.Terraform("plan", "-no-color"); strings.Contains(out.Text(), elsewhere) {
		t.Errorf("a commit that is no drift is reported:\n%s", out.Stderr)
	}
	r.options("on_drift", "overwrite")
	if out := r.expectCommits(1); !strings.Contains(out.Text(), "Changes made outside Terraform are overwritten") {
		t.Errorf("the apply does not report the changes that it overwrites:\n%s", out.Stdout)
	}
	now := gitserver.Modes(t, r.repo, "dev")
	others["team/large/README.md"] = now["team/large/README.md"]
	maps.Copy(delivered, others)
	if diff := cmp.Diff(delivered, now); diff != "" {
		t.Errorf("the branch (-delivered +now):\n%s", diff)
	}

	// A revert of our commit. If the fleet is reverted too, no commit is needed.
	r.options("on_drift", nil, "preview", "summary")
	r.Set("value", "2")
	r.expectCommits(1)
	reverted := strings.TrimSpace(gitserver.Git(t, r.repo, "commit-tree", "-p", "dev", "-m",
		`Revert "Render environment dev"`, "dev~1^{tree}"))
	gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev", reverted)
	r.expectRefused([]string{"commit " + reverted + " by Somebody <somebody@acme.io>", `Revert "Render environment dev"`,
		"large/app-b/reconciler.yaml"}, "plan")
	r.Set("value", "1")
	r.expectCommits(0)
	state := r.Rendered()
	if commit := state["commit_sha"]; commit != reverted {
		t.Errorf("commit_sha is %v, want %s", commit, reverted)
	}
	if state["assignments"] != nil || state["folders"] != nil {
		t.Error("the refresh shows more than the preview")
	}
	for clusterType, line := range asMap(state["summary"]) {
		tree := gitserver.Git(t, r.repo, "rev-parse", "dev:"+clusterType)
		if want := ", tree " + tree[:12]; !strings.HasSuffix(acc.As[string](line), want) {
			t.Errorf("the line of %s is %q, without %q", clusterType, line, want)
		}
	}
}

// TestAccRenderingAfterForcePush: after a force-push, the branch is compared by its content, not by its history.
func TestAccRenderingAfterForcePush(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.Apply()
	force := func(tree string) {
		t.Helper()
		gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev",
			strings.TrimSpace(gitserver.Git(t, r.repo, "commit-tree", "-m", "Squashed", tree)))
	}
	force("dev^{tree}")
	r.ExpectEmptyPlan()
	r.Set("value", "2")
	r.expectCommits(1)
	force("dev~1^{tree}")
	r.expectRefused([]string{"Drift: rendered folders changed outside Terraform", "Squashed",
		"large/app-a/reconciler.yaml", "not in the history of the branch"}, "plan")

	// A deleted branch is planned again.
	gitserver.Git(t, r.repo, "update-ref", "-d", "refs/heads/dev")
	if out := r.Succeed("plan", "-no-color"); !strings.Contains(out.Text(), "Plan: 1 to add") ||
		!strings.Contains(out.Text(), "That branch no longer exists") {
		t.Errorf("the plan:\n%s", out.Stdout)
	}
	r.expectCommits(1)
}

// TestAccRenderingRecordObstructed: if an apply can't write the record, the plan does not promise to restore it. It
// names the commit that removed the record, and a solution that works.
func TestAccRenderingRecordObstructed(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true, "on_drift", "overwrite")
	r.expectCommits(1)
	record := gitserver.Tree(t, r.repo, "dev")[".kalypso/rendering.json"]
	for said, edit := range map[string]map[string]gitserver.File{
		`".kalypso" (mode 0100644) exists but is not a directory`: {".kalypso": {Mode: "100644",
			Content: "Mine.\n"}},
		`".kalypso/rendering.json" (mode 0040000) exists but is not a file`: {".kalypso/rendering.json/x": {Mode: "100644",
			Content: "Mine.\n"}},
		`the rendering of environment "stage", not of "dev"`: {".kalypso/rendering.json": {Mode: "100644",
			Content: strings.Replace(record, `"dev"`, `"stage"`, 1)}},
	} {
		before := r.head()
		gitserver.SeedFiles(t, r.repo, "dev", "Away with the record", map[string]gitserver.File{".kalypso": {}})
		gitserver.SeedFiles(t, r.repo, "dev", "Mine", edit)
		for _, command := range [][]string{{"plan"}, {"apply", "-auto-approve"}} {
			r.Printed.Reset()
			r.expectRefused([]string{"Destination is occupied", said, "Drift: rendered folders changed outside Terraform",
				"Away with the record"}, command...)
			if strings.Contains(r.Printed.String(), "puts the rendered tree back") {
				t.Errorf("%s: terraform %s promises to put the tree back:\n%s", said, command[0], r.Printed.String())
			}
		}
		if !strings.Contains(said, "environment") {
			gitserver.SeedFiles(t, r.repo, "dev", "Remove it", map[string]gitserver.File{".kalypso": {}})
			r.expectCommits(1)
		} else {
			gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev", before)
			r.ExpectEmptyPlan()
		}
	}
}

// TestAccRenderingNewerRecord: if a newer version of the provider wrote the record, each command fails and says what to
// do, and the branch does not change. Once the record is restored, the plan is empty.
func TestAccRenderingNewerRecord(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true, "on_drift", "overwrite", "deletion_protection", false)
	r.expectCommits(1)
	before := r.head()
	newer := gitserver.SeedFiles(t, r.repo, "dev", "Newer", map[string]gitserver.File{
		".kalypso/rendering.json": {Mode: "100644", Content: `{"version": 99, "environment": "dev", "folders": {}}`},
	})
	says := []string{"The rendering's record is newer than the provider",
		"it has version 99, and this provider supports version 1; upgrade the provider. Nothing was written."}
	for _, command := range [][]string{
		{"plan"}, {"apply", "-auto-approve"}, {"refresh"}, {"destroy", "-auto-approve"},
		{"destroy", "-auto-approve", "-refresh=false"},
	} {
		r.expectRefused(says, command...)
	}
	r.Set("value", "2")
	r.expectRefused(says, "apply", "-auto-approve", "-refresh=false")
	if now := r.head(); now != newer {
		t.Errorf("the branch moved to %s", now)
	}
	gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev", before)
	r.Set("value", "1")
	r.ExpectEmptyPlan()
}

// TestAccRenderingUnreachable: a repo that cannot be read is an error, and is not treated as empty.
func TestAccRenderingUnreachable(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	server, url := gitserver.Serve(t, r.repo, gitserver.WithBasic("kalypso", "canary-password"))
	credentials := func(password string) {
		r.Set("git_credentials", []map[string]string{{"url": server.URL, "username": "kalypso", "password": password}})
	}
	r.setDestination("repo", url)
	r.options("create_branch", true)
	credentials("canary-password")
	r.expectCommits(1)
	credentials("canary-of-last-year")
	r.expectRefused([]string{"Credentials refused"}, "apply", "-auto-approve")
	credentials("canary-password")
	if err := os.Rename(r.repo, r.repo+".away"); err != nil {
		t.Fatal(err)
	}
	r.ExpectError([]string{"Repo not found"}, "apply", "-auto-approve")
	if r.Rendered() == nil {
		t.Error("the state is gone")
	}
	if err := os.Rename(r.repo+".away", r.repo); err != nil {
		t.Fatal(err)
	}
	r.ExpectEmptyPlan()
	if log := acc.ReadFile(t, r.Folder+"/terraform.tfstate"); strings.Contains(log, "canary") {
		t.Error("a secret is in the state")
	}
}
