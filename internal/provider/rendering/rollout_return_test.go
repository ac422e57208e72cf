package rendering_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// rollsBack configures a rollout that rolls its folders back if one of them fails. The parameters are further arguments
// in pairs.
func (r *rolling) rollsBack(pairs ...any) {
	r.T.Helper()
	rollout := map[string]any{"stages": canaryThenAll, "on_failure": "rollback"}
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		rollout[name] = pairs[i+1]
	}
	r.Set("rollout", rollout)
}

// works makes all clusters report that they run the head of the branch.
func (r *rolling) works(types ...string) {
	r.T.Helper()
	r.options("progress_deadline", "1h")
	r.report("current", append(types, rollingTypes...)...)
}

// fails makes the clusters of a type report a failure that is past its deadline.
func (r *rolling) fails(name string) {
	r.T.Helper()
	r.options("progress_deadline", "1ms")
	r.report("failed", name)
}

// message returns the message of the last commit.
func (r *rolling) message() string {
	r.T.Helper()
	return gitserver.Git(r.T, r.repo, "log", "-1", "--format=%B", "dev")
}

// expectRolledBack fails the test unless the record and the state contain a rollback of the rollout, and the plan warns
// of it.
func (r *rolling) expectRolledBack(promoted string) {
	r.T.Helper()
	record := r.record()
	if record.Rollout == nil || !strings.Contains(record.Rollout.RolledBack, " has been failing since ") ||
		record.Rollout.Complete ||
		record.PromotedCommit != promoted {
		r.T.Errorf("the record: %+v %+v", record, record.Rollout)
	}
	if now := r.Rendered(); now["delivered"] != false || now["target_tree_hash"] == now["tree_hash"] {
		r.T.Errorf("the state: delivered %v, %v", now["delivered"], now["rollout_status"])
	}
	if record.Rollout.TargetTreeHash != r.Rendered()["target_tree_hash"] {
		r.T.Errorf("the record keeps the tree %s", record.Rollout.TargetTreeHash)
	}
	r.expectWarning("The rollout was rolled back", " has been failing since ", "rollout.skip = ")
}

// If a folder of a rollout fails, all folders of the rollout get back the trees that they had before it. The failed
// tree is not tried again until the fleet changes, or skip names the tree, also after an import.
func TestAccRolloutRollsBack(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	before := r.Rendered()
	r.Set("value", "2")
	r.options("promoted_commit", promotedAfter)
	r.rollsBack()
	r.wave("2 1 1 1 1")
	r.works()
	r.wave("2 2 2 1 1")
	r.works()
	r.fails("north")
	plan := r.Succeed("plan", "-no-color").Text()
	acc.ExpectTexts(t, plan, "The rollout is rolled back", `In stage "rest", clusters fail`, "failed since the test",
		"canary, east, north")
	r.wave("1 1 1 1 1")
	acc.ExpectTexts(t, r.message(), "canary: +0 -0 ~1", "Rollout: rest, rolled back", "has been failing since")
	if strings.Contains(r.message(), "since the test") {
		t.Errorf("the message contains text of a cluster: %s", r.message())
	}
	r.expectRolledBack(promotedBefore)
	if now := r.Rendered(); now["tree_hash"] != before["tree_hash"] ||
		now["rollout_status"] != "stage rest, rolled back" {
		t.Errorf("the state: %v, %v", now["tree_hash"], now["rollout_status"])
	}
	r.expectSame(before, "tree_hash", "assignments", "folders")
	r.works()
	r.expectRolledBack(promotedBefore)
	r.EmptyState()
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"//.?ref=dev")
	r.expectCommits(0)
	r.expectRolledBack(promotedBefore)

	// Another change of the fleet, which fails too.
	r.Set("value", "3")
	r.wave("3 1 1 1 1")
	r.works()
	r.wave("3 3 3 1 1")
	r.fails("canary")
	r.EmptyState() // the folders from before the rollout are in the history of the branch
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"//.?ref=dev")
	r.wave("1 1 1 1 1")
	r.expectRolledBack(promotedBefore)
	r.expectSame(before, "tree_hash", "assignments", "folders")
	r.works()
	r.rollsBack("skip", r.Rendered()["target_tree_hash"])
	r.wave("3 3 3 3 3")
	if record := r.record(); record.PromotedCommit != promotedAfter || !record.Rollout.Complete {
		t.Errorf("the record: %+v", record)
	}
}

// After the last wave, a fleet without a promoted commit is rolled back, too: a new folder is removed, and a removed
// folder is restored.
func TestAccRolloutRollsBackFolders(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.options("promoted_commit", nil, "guardrails", map[string]any{"max_removed": "50%"})
	r.Apply()
	r.Set("types", append([]string{"added"}, rollingTypes[:4]...))
	r.Set("targets", map[string]string{
		"added": "added", "canary": "canary", "east": "east", "north": "north", "south": "south",
	})
	r.Set("value", "2")
	r.rollsBack()
	for range 5 {
		r.Apply()
		r.works("added")
	}
	r.expectValues("2 2 2 2 -")
	r.fails("south")
	r.wave("1 1 1 1 1")
	if _, there := gitserver.Tree(t, r.repo, "dev")["added/README.md"]; there {
		t.Error("the new folder is still there")
	}
	r.expectRolledBack("")
}

// If an apply is killed after the push of a rollback, the next apply recognizes its commit, with any observation.
func TestAccRolloutRollsBackAfterKill(t *testing.T) {
	t.Parallel()
	for _, works := range []bool{true, false} {
		repo := gitserver.InitBare(t)
		_, url := gitserver.Serve(t, repo)
		r := newRollingAt(t, repo, url)
		r.rollsBack()
		r.Set("value", "2")
		r.wave("2 1 1 1 1")
		r.works()
		r.fails("canary")
		applyUntilPushed(t, r.rendering)
		r.expectValues("1 1 1 1 1")
		if works {
			r.works()
		}
		r.expectCommits(0)
		r.expectRolledBack(promotedBefore)
	}
}

// With pull requests, the rollback is proposed in place of the open wave, until people merge it.
func TestAccRolloutRollsBackByPullRequest(t *testing.T) {
	t.Parallel()
	reviewed := newReviewed(t)
	r := &rolling{reviewed.rendering}
	r.fleet()
	merge := func() {
		t.Helper()
		r.Apply()
		reviewed.on.Merge(t, reviewed.last().Number, "merge")
		r.Apply()
	}
	merge()
	r.rollsBack()
	r.works()
	r.Set("value", "2")
	merge()
	r.works()
	r.Apply()
	reviewed.expectPulls("merged", "merged", "open")
	r.expectValues("2 1 1 1 1")
	r.fails("canary")
	r.Apply()
	open := reviewed.expectPulls("merged", "merged", "open")
	const says = "**Rolled back, to the trees from before the rollout:** `folder \"canary\" has been failing"
	if open.Draft || !strings.Contains(open.Body, says) {
		t.Errorf("the pull request: %+v", open)
	}
	r.works() // a new observation changes nothing
	r.ExpectEmptyPlan()
	reviewed.on.Merge(t, open.Number, "merge")
	r.Apply()
	r.expectValues("1 1 1 1 1")
	r.expectRolledBack("")
}
