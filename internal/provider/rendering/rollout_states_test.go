package rendering_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A failing folder stops the rollout until the fleet changes the folder, or until skip names the tree. If the fleet
// returns to the trees from before the rollout, these folders change at once.
func TestAccRolloutFails(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.Set("value", "2")
	r.options("promoted_commit", promotedAfter)
	r.wave("2 1 1 1 1")
	r.report("failed", "canary")
	r.options("progress_deadline", "1ms") // failing folders count as failed at once
	r.expectWarning(
		"The rollout stopped",
		"canary: 0 of 1 cluster current",
		"of-canary failed: ",
		"failed since the test",
	)

	// With a fixed fleet, the rollout continues at that wave.
	r.Set("value", "3")
	r.wave("3 1 1 1 1")
	// A rollback is complete at once.
	r.report("failed", "canary")
	r.Set("value", "1")
	r.options("promoted_commit", promotedBefore)
	r.wave("1 1 1 1 1")
	if now := r.Rendered(); now["delivered"] != true {
		t.Error("the rolled-back tree is not delivered")
	}
	if record := r.record(); !record.Rollout.Complete || record.PromotedCommit != promotedBefore {
		t.Errorf("the record after a rollback: %+v %+v", record, record.Rollout)
	}
	// An urgent change is committed everywhere at once. The next change goes in waves again.
	r.report("current", rollingTypes...)
	r.Set("value", "4")
	r.wave("4 1 1 1 1")
	r.Set("rollout", map[string]any{"stages": canaryThenAll, "skip": r.Rendered()["target_tree_hash"]})
	r.wave("4 4 4 4 4")
	if now := r.Rendered(); now["rollout_status"] != "all at once" {
		t.Errorf("the status: %v", now["rollout_status"])
	}
	r.Set("value", "5")
	r.wave("5 4 4 4 4")
	// Without rollout, the other folders follow at once.
	r.Set("rollout", nil)
	r.wave("5 5 5 5 5")
	if now := r.Rendered(); now["rollout_status"] != nil || now["target_tree_hash"] != nil || now["delivered"] != true {
		t.Errorf("without a rollout: %v, %v", now["rollout_status"], now["target_tree_hash"])
	}
}

// The last wave removes the folder of a removed cluster type, with its targets.
func TestAccRolloutRemoves(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.options("guardrails", map[string]any{"max_removed": "20%"})
	r.Set("value", "2")
	r.Set("types", rollingTypes[:4])
	r.Set("targets", map[string]string{"canary": "canary", "east": "east", "north": "north", "south": "south"})
	r.stages(map[string]any{"name": "all", "cluster_type_selector": map[string]any{"match_all": true}})
	r.wave("2 2 2 2 1")
	r.expectWarning(`Stage "all" waits for`)
	r.report("current", rollingTypes[:4]...)
	r.wave("2 2 2 2 -")
	if now := r.Rendered(); now["rollout_status"] != "stage removed cluster types, wave 1" || now["delivered"] != true {
		t.Errorf("the status: %v, %v", now["rollout_status"], now["delivered"])
	}
}

// At the first wave, the guardrails count all removals of the fleet, even if that wave removes nothing.
func TestAccRolloutGuardrails(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.Set("value", "2")
	r.Set("targets", map[string]string{"canary": "canary"})
	r.expectRefused(
		[]string{"Change exceeds guardrails", "removes 4 of 5 deployment target folders", "west/app-west"},
		"plan",
	)
	r.options("guardrails", map[string]any{"max_removed": "80%", "emptied": "warn"})
	r.wave("2 1 1 1 1")
	// The same after an import.
	r.EmptyState()
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"//.?ref=dev")
	r.options("guardrails", nil)
	r.report("current", "canary")
	r.expectRefused([]string{"Change exceeds guardrails", "removes 4 of 5"}, "plan")
	r.options("guardrails", map[string]any{"max_removed": "80%", "emptied": "warn"})
	r.wave("2 - - - -") // the other cluster types have no folders any more, so no cluster is awaited
}

// The plan of the first wave names a deployment target that moves from a cluster type of an early wave to one of a late
// wave.
func TestAccRolloutMoved(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.Set("targets",
		map[string]string{"canary": "west", "east": "east", "north": "north", "south": "south", "west": "west"})
	said := []string{
		"Deployment targets move between cluster types", "app-canary: from canary to west", "is nowhere in between",
	}
	r.options("guardrails", map[string]any{"emptied": "warn"})
	plan := r.Succeed("plan", "-no-color").Text()
	for _, text := range said {
		if !strings.Contains(plan, text) {
			t.Errorf("the plan does not say %q:\n%s", text, plan)
		}
	}
	r.options("guardrails", map[string]any{"moved": "error", "emptied": "warn"})
	r.expectRefused(said, "plan")
}

// Foreign changes of folders whose wave is pending are reverted to the delivered tree, which the apply finds by its
// hash.
func TestAccRolloutDrift(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.Set("value", "2")
	r.wave("2 1 1 1 1")
	gitserver.SeedFiles(t, r.repo, "dev", "A hotfix", map[string]gitserver.File{
		"west/app-west/reconciler.yaml": {Mode: "100644", Content: "value: theirs\n"}, "east": {},
		"canary/app-canary/reconciler.yaml": {Mode: "100644", Content: "value: theirs\n"},
	})
	r.expectRefused([]string{"Drift: rendered folders changed outside Terraform", "west/app-west", "A hotfix"}, "plan")
	r.options("on_drift", "overwrite")
	r.wave("2 1 1 1 1")
	gitserver.Fsck(t, r.repo)
	if record := r.record(); record.Rollout.Complete || len(record.Rollout.From) != 1 {
		t.Errorf("the record: %+v", record.Rollout)
	}
	// Once the clusters report, the rollout continues.
	r.report("current", rollingTypes...)
	r.wave("2 2 2 1 1")
}

// After an import, the rollout continues from the record.
func TestAccRolloutImport(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.Set("value", "2")
	r.options("promoted_commit", promotedAfter)
	r.wave("2 1 1 1 1")
	before := r.Rendered()
	r.EmptyState()
	r.ExpectError([]string{"The branch contains a rendering of this environment"}, "plan", "-no-color")
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"//.?ref=dev")
	now := r.Rendered()
	if now["rollout_status"] != "stage canary" || now["delivered"] != false ||
		now["target_tree_hash"] != before["target_tree_hash"] {
		t.Errorf("imported: %v, %v", now["rollout_status"], now["delivered"])
	}
	r.expectUpdate(0)
	r.expectSame(before, "tree_hash", "folders", "assignments", "target_tree_hash", "delivered", "promoted_commit")
	r.expectWarning(`Stage "canary" waits for`)
	r.report("current", "canary")
	r.wave("2 2 2 1 1")
	r.Set("value", "1") // the import has read the trees from before the rollout
	r.wave("1 1 1 1 1")
}

// If the private state is unreadable, the provider reads its content again from the branch, even without a refresh.
func TestAccRolloutLostState(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.Set("value", "2")
	r.wave("2 1 1 1 1")
	r.replacePrivateState()
	r.ExpectEmptyPlan()
	r.expectCommits(0)
	r.replacePrivateState()
	r.ExpectError([]string{"The rendering is protected", "The waves: the last commit wrote stage canary, wave 1."},
		"destroy", "-no-color", "-auto-approve", "-refresh=false")
	r.report("current", "canary")
	out := r.Succeed("plan", "-no-color", "-refresh=false")
	if !strings.Contains(out.Text(), "tree_hash = ") || !strings.Contains(out.Text(), "-> (known after apply)") {
		t.Errorf("the plan shows values that it can't know:\n%s", out.Stdout)
	}
	r.expectCommits(1, "-refresh=false")
	r.expectValues("2 2 2 1 1")
}

// If an apply is killed right after its push, the next apply recognizes its commit, and the rollout continues from
// there.
func TestAccRolloutKilled(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	_, url := gitserver.Serve(t, repo)
	r := newRollingAt(t, repo, url)
	r.Set("value", "2")
	applyUntilPushed(t, r.rendering)
	r.expectValues("2 1 1 1 1")
	r.expectCommits(0)
	r.report("current", "canary")
	applyUntilPushed(t, r.rendering)
	r.expectValues("2 2 2 1 1")
	r.report("current", rollingTypes...) // before an apply has stored the push in the state
	r.wave("2 2 2 2 2")
	if record := r.record(); !record.Rollout.Complete {
		t.Errorf("the record: %+v", record.Rollout)
	}
}

// If a rendering moves within its repo, the folders of pending waves move, too. A rendering moves to another repo only
// once the rollout is complete.
func TestAccRolloutMoves(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.Set("value", "2")
	r.wave("2 1 1 1 1")
	before := r.Rendered()
	other := gitserver.InitBare(t)
	r.options("guardrails", anyRemoval, "create_branch", true)
	r.setDestination("repo", "file://"+other)
	r.expectRefused([]string{"A rollout is under way",
		"contains folders that no wave has reached yet: east, north, south, west", "rollout.skip = "}, "plan")
	r.setDestination("repo", "file://"+r.repo, "path", "clusters")
	r.expectCommits(1)
	r.expectSame(before, "tree_hash", "target_tree_hash", "assignments")
	gitserver.Fsck(t, r.repo)
	r.expectFiles("dev", append(movedPaths(), ".github/tracking/Promoted_Commit_Id")...)
	r.setDestination("path", ".", "branch", "live")
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectSame(before, "tree_hash", "target_tree_hash", "assignments")
	gitserver.Fsck(t, r.repo)
}

// movedPaths returns the paths of the fleet's files after the move.
func movedPaths() []string {
	var folders []string
	for _, name := range rollingTypes {
		folders = append(folders, name, name+"/app-"+name)
	}
	return paths("clusters", folders...)
}

// A destroy during a rollout removes all folders, or keeps all of them.
func TestAccRolloutDestroy(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.options("deletion_protection", false, "on_destroy", "keep")
	r.Set("value", "2")
	r.wave("2 1 1 1 1")
	before := gitserver.Modes(t, r.repo, "dev")
	r.Succeed("destroy", "-no-color", "-auto-approve")
	if diff := cmp.Diff(before, gitserver.Modes(t, r.repo, "dev")); diff != "" {
		t.Errorf("on_destroy = keep changed the branch:\n%s", diff)
	}
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"//.?ref=dev")
	r.options("deletion_protection", false, "on_destroy", "remove")
	r.expectCommits(0)
	r.Succeed("destroy", "-no-color", "-auto-approve")
	r.expectFiles("dev", ".github/tracking/Promoted_Commit_Id")
}

// With adopt, foreign files on the branch affect the first wave: its hashes are known after the apply.
func TestAccRolloutAdopts(t *testing.T) {
	t.Parallel()
	r := &rolling{newRendering(t, gitserver.InitBare(t))}
	r.fleet()
	theirs := map[string]string{"README.md": "Theirs."}
	for _, name := range append([]string{"old"}, rollingTypes...) {
		theirs[name+"/README.md"] = "This folder contains deployment targets scheduled on the cluster type"
		theirs[name+"/app-"+name+"/reconciler.yaml"] = "# value: 0 of the operator\n"
	}
	gitserver.Seed(t, r.repo, "dev", theirs)
	r.stages(canaryThenAll...)
	r.report("current")
	r.expectRefused([]string{"Folders are not owned by this rendering"}, "plan")
	r.options("adopt", true, "guardrails", anyRemoval)
	out := r.Succeed("plan", "-no-color")
	for _, text := range []string{
		"+ tree_hash = (known after apply)", "+ folders = (known after apply)", "Existing folders will be adopted",
	} {
		if !strings.Contains(out.Text(), text) {
			t.Errorf("the plan does not say %q:\n%s", text, out.Stdout)
		}
	}
	r.wave("1 0 0 0 0")
	folders, _ := r.Rendered()["folders"].(map[string]any)
	if got := slices.Sorted(maps.Keys(folders)); !slices.Equal(got, append([]string{"canary", "east", "north", "old"},
		"south", "west")) {
		t.Errorf("the folders: %v", got)
	}
	r.report("current", rollingTypes...)
	r.wave("1 1 1 0 0")
	r.report("current", rollingTypes...)
	r.wave("1 1 1 1 1")
	r.report("current", rollingTypes...)
	r.wave("1 1 1 1 1") // a folder that belongs to no cluster type is removed last
	if now := r.Rendered(); now["delivered"] != true {
		t.Error("the rendering is not delivered")
	}
	// A create plans its first wave.
	fresh := &rolling{newRendering(t, gitserver.InitBare(t))}
	fresh.fleet()
	fresh.stages(canaryThenAll...)
	fresh.options("create_branch", true, "promoted_commit", promotedAfter)
	plan := fresh.Succeed("plan", "-no-color")
	if !strings.Contains(plan.Text(), `+ rollout_status = "stage canary, wave 1"`) || strings.Contains(plan.Text(),
		"tree_hash = (known after") {
		t.Errorf("the plan of a create:\n%s", plan.Stdout)
	}
	fresh.Apply()
	fresh.ExpectEmptyPlan()
	fresh.expectValues("1 - - - -")
	if record := fresh.record(); record.PromotedCommit != "" || record.Rollout.Complete {
		t.Errorf("the record: %+v %+v", record, record.Rollout)
	}
}

// With preview = "manifests", files lists what the apply leaves on the branch, with the previous files of pending
// folders.
func TestAccRolloutPreview(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.options("preview", "manifests")
	r.expectCommits(0)
	r.Set("value", "2")
	r.wave("2 1 1 1 1")
	files, _ := r.Rendered()["files"].(map[string]any)
	want := gitserver.Tree(t, r.repo, "dev")
	delete(want, acc.RecordPath)
	got := map[string]string{}
	for path, content := range files {
		got[path], _ = content.(string)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-branch +state):\n%s", diff)
	}
}

// With pull requests, each wave has its own pull request. New reports do not change an open pull request. A pull
// request that people closed stops the rollout.
func TestAccRolloutPullRequest(t *testing.T) {
	t.Parallel()
	reviewed := newReviewed(t)
	r := &rolling{reviewed.rendering}
	r.fleet()
	r.Set("rollout", nil)
	r.Apply()
	reviewed.on.Merge(t, reviewed.last().Number, "merge")
	r.Apply()
	r.stages(canaryThenAll...)
	r.report("current", rollingTypes...)
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectValues("1 1 1 1 1")

	r.Set("value", "2")
	r.Apply()
	r.expectWarning("The rollout waits", "pull request 2, which proposes the wave, is not merged yet")
	r.expectValues("1 1 1 1 1")
	second := reviewed.last().HeadCommit
	r.report("progressing", "canary")
	r.Apply()
	r.ExpectEmptyPlan()
	if last := reviewed.expectPulls("merged", "open"); last.HeadCommit != second {
		t.Errorf("the pull request was edited: %+v", last)
	}
	reviewed.on.Merge(t, reviewed.last().Number, "merge")
	r.Apply()
	r.expectValues("2 1 1 1 1")
	if now := r.Rendered(); now["delivered"] != false || now["rollout_status"] != "stage canary, wave 1" {
		t.Errorf("after the merge: %v, %v", now["delivered"], now["rollout_status"])
	}

	// People close the pull request of the next wave.
	r.report("current", rollingTypes...)
	r.Apply()
	third := reviewed.expectPulls("merged", "merged", "open")
	reviewed.on.Close(t, third.Number)
	r.expectWarning("Pull request 3 ", "was closed without being merged")
	r.report("current", rollingTypes...)
	r.expectWarning("Pull request 3 ", "was closed without being merged")
	r.Apply("-refresh-only")

	// With skip, the apply opens another pull request.
	r.Set("rollout", map[string]any{"stages": canaryThenAll, "skip": r.Rendered()["target_tree_hash"]})
	r.Apply()
	reviewed.expectPulls("merged", "merged", "closed", "open")
	reviewed.on.Merge(t, reviewed.last().Number, "merge")
	r.Apply()
	r.expectValues("2 2 2 2 2")
	r.ExpectEmptyPlan()
	if now := r.Rendered(); now["delivered"] != true {
		t.Errorf("after the last merge: %v", now["delivered"])
	}
}

// While the canary fails, the pull request of the next wave is neither opened nor reopened, and an open pull request is
// marked. The mark is removed once the canary is current. Hosts without drafts get everything but the draft.
func TestAccRolloutFailingCanaryBlocksNextPullRequest(t *testing.T) {
	t.Parallel()
	for _, drafts := range []bool{true, false} {
		t.Run(fmt.Sprintf("drafts %t", drafts), func(t *testing.T) {
			t.Parallel()
			reviewed := newReviewed(t)
			if !drafts {
				reviewed.on.NoDrafts = true
			}
			reviewed.on.Require("dev", "ci")
			reviewed.delivery("auto_merge", "squash", "reopen", true)
			r := &rolling{reviewed.rendering}
			r.fleet()
			merge := func() {
				t.Helper()
				r.Apply()
				reviewed.on.Merge(t, reviewed.last().Number, "merge")
				r.Apply()
			}
			merge()
			r.stages(canaryThenAll...)
			r.report("current", rollingTypes...)
			r.options("progress_deadline", "1ms") // failing folders count as failed at once
			r.Set("value", "2")
			merge()
			r.expectValues("2 1 1 1 1")

			// No pull request is opened while the canary fails.
			r.report("failed", "canary")
			r.expectWarning("The rollout stopped", "failed since the test")
			r.Apply()
			reviewed.expectPulls("merged", "merged")
			r.report("current", "canary")
			r.Apply()
			open := reviewed.expectPulls("merged", "merged", "open")
			if open.Draft || open.AutoMerge != "squash" {
				t.Errorf("the pull request: %+v", open)
			}

			// The open pull request is marked once the canary fails.
			r.report("failed", "canary")
			says := []string{"Pull request must not be merged yet", "An earlier wave of the rollout, in stage",
				"Pull request 3 is a draft, if the host has drafts"}
			plan := r.Succeed("plan", "-no-color")
			for _, text := range append([]string{"The rollout stopped", "0 to add, 1 to change"}, says...) {
				if !strings.Contains(plan.Text(), text) {
					t.Errorf("the plan does not say %q:\n%s", text, plan.Text())
				}
			}
			noDraft := strings.Contains(r.Apply().Text(), "The pull request is not a draft")
			marked := reviewed.expectPulls("merged", "merged", "open")
			if noDraft == drafts || marked.Draft != drafts || marked.AutoMerge != "" ||
				marked.HeadCommit != open.HeadCommit ||
				!strings.HasPrefix(marked.Body, "**Do not merge this pull request now.**") ||
				!strings.Contains(marked.Body, "An earlier wave of the rollout, in stage \"canary\", is not current yet.") {
				t.Errorf("the marked pull request: %+v, warned %t", marked, noDraft)
			}
			r.expectWarning(says...)
			r.report("failed", "canary") // a new observation changes nothing
			r.expectWarning(says...)

			// The mark is removed once the canary is current.
			r.report("current", "canary")
			r.Apply()
			r.ExpectEmptyPlan()
			back := reviewed.expectPulls("merged", "merged", "open")
			back.Updated = open.Updated // each edit changes it
			if diff := cmp.Diff(open, back); diff != "" {
				t.Errorf("the pull request without the mark (-before +now):\n%s", diff)
			}

			// The pull request is not reopened while the canary fails.
			reviewed.on.Close(t, 3)
			r.report("failed", "canary")
			r.expectWarning("The rollout stopped")
			r.Apply()
			reviewed.expectPulls("merged", "merged", "closed")
			r.report("current", "canary")
			merge()
			reviewed.expectPulls("merged", "merged", "closed", "merged")
			r.expectValues("2 2 2 1 1")
		})
	}
}

// If a rollout is paused before the first delivery, nothing is written or opened until the pause ends.
func TestAccRolloutPausedBeforeFirstDelivery(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"push", "pull_request"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			reviewed := newReviewed(t)
			r := &rolling{reviewed.rendering}
			r.options("delivery", map[string]any{"strategy": strategy})
			if strategy == "push" {
				r.setDestination("branch", "main") // since the host protects dev
				gitserver.Git(t, r.repo, "branch", "main", "dev")
			}
			branch := map[string]string{"push": "main", "pull_request": "dev"}[strategy]
			head := gitserver.Rev(t, r.repo, branch)
			r.fleet()
			paused := func() {
				t.Helper()
				r.Set("rollout", map[string]any{"stages": canaryThenAll, "pause": "an incident"})
			}
			paused()
			r.Apply()
			if now := r.Rendered(); now["delivered"] != false || now["tree_hash"] != nil || now["commit_sha"] != nil {
				t.Errorf("the state: %v, %v, %v", now["delivered"], now["tree_hash"], now["commit_sha"])
			}
			r.Set("value", "2") // the fleet changes further
			r.expectWarning("The rollout is paused", "rollout.pause says: an incident", "Nothing was delivered yet")
			r.Apply()
			if now := gitserver.Rev(t, r.repo, branch); now != head || len(reviewed.pulls()) > 0 {
				t.Errorf("there are new commits or pull requests: %s, %v", gitserver.Log(t, r.repo, branch), reviewed.pulls())
			}
			r.stages(canaryThenAll...)
			r.Apply()
			if strategy == "pull_request" {
				reviewed.on.Merge(t, 1, "merge")
				r.Apply()
			}
			files := gitserver.Tree(t, r.repo, branch)
			if !strings.HasPrefix(files["canary/app-canary/reconciler.yaml"], "# value: 2 in ") ||
				files["east/app-east/reconciler.yaml"] != "" {
				t.Errorf("the branch contains %v", slices.Sorted(maps.Keys(files)))
			}
		})
	}
}

// Bad input is an error of the plan, at its attribute.
func TestAccRolloutInput(t *testing.T) {
	t.Parallel()
	r := &rolling{newRendering(t, gitserver.InitBare(t))}
	r.fleet()
	r.options("create_branch", true)
	all := map[string]any{"match_all": true}
	r.stages(map[string]any{"cluster_type_selector": all}, map[string]any{"name": "b",
		"cluster_type_selector": map[string]any{}})
	r.expectRefused([]string{"Selector selects everything", "in resource"}, "plan")
	r.stages(
		map[string]any{"cluster_type_selector": all},
		map[string]any{"name": "b", "cluster_type_selector": all, "max_concurrency": "0%"},
		map[string]any{"name": "b", "cluster_type_selector": all},
	)
	r.expectRefused([]string{"Missing name", "max_concurrency lets no cluster type change",
		`Stages 2 and 3 both have the name "b"`}, "plan")
	r.stages(map[string]any{"name": "a", "cluster_type_selector": all, "max_concurrency": "some", "soak": "soon"})
	r.expectRefused([]string{`"some" is neither a number`, `"soon" is not a duration`}, "plan")
	r.stages(map[string]any{"name": "a",
		"cluster_type_selector": map[string]any{"match_labels": map[string]any{"type": "canary"}}})
	r.expectRefused([]string{"Cluster types in no stage", "east", "west"}, "plan")
	r.Set("rollout", map[string]any{"stages": []any{}, "skip": "main"})
	r.expectRefused([]string{"needs at least one stage", `"main" is not the hash of a tree`}, "plan")
	r.stages(canaryThenAll...)
	r.options("observed_repo", map[string]any{"repo": "file://" + r.repo, "branch": "stage"})
	r.report("current")
	r.expectRefused([]string{"Observation of another location", `branch "stage"`, `branch "dev"`}, "plan")
}
