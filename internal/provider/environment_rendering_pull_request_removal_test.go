package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// moving is a rendering that was delivered to "dev" by pull request, and may leave it for "live".
func moving(t *testing.T, delivery ...any) *reviewed {
	t.Helper()
	r := newReviewed(t)
	gitserver.Git(t, r.on.Path, "branch", "live", "dev")
	r.options("guardrails", anyRemoval, "deletion_protection", false)
	r.delivery(delivery...)
	r.apply()
	if last := r.last(); last.State == "open" {
		r.on.Merge(t, last.Number, "merge")
	}
	r.expectEmptyPlan()
	return r
}

// expectPlaces fails the test unless just these branches hold the tree.
func (r *reviewed) expectPlaces(want ...string) {
	r.t.Helper()
	var got []string
	for _, branch := range []string{"dev", "live", "third"} {
		if gitserver.Rev(r.t, r.on.Path, branch) != "" &&
			gitserver.Tree(r.t, r.on.Path, branch)["large/app-a/reconciler.yaml"] != "" {
			got = append(got, branch)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("branches with the tree (-want +got):\n%s", diff)
	}
}

// expectRemoval applies. The test fails unless plan and apply say that this opens the pull request that removes the
// rendering from a branch, and that it waits for people.
func (r *reviewed) expectRemoval(from string) int {
	r.t.Helper()
	count := len(r.pulls())
	o := r.terraform("plan", "-no-color", "-detailed-exitcode")
	if o.code != 2 || !strings.Contains(o.text(), "The old location is due to be removed") ||
		!strings.Contains(o.text(), `branch "`+from+`"`) {
		r.t.Errorf("the plan (exit code %d) does not say what is due:\n%s\n%s", o.code, o.stdout, o.stderr)
	}
	r.refresh()
	before := r.rendered()
	if o := r.apply(); !strings.Contains(o.text(), "A pull request removes the rendering") {
		r.t.Errorf("the apply: %s", o.text())
	}
	if diff := cmp.Diff(before, r.rendered()); diff != "" {
		r.t.Errorf("the state (-before +after):\n%s", diff)
	}
	r.expectEmptyPlan()
	last := r.last()
	if len(r.pulls()) != count+1 || last.Base != from || last.State != "open" || last.AutoMerge != "" {
		r.t.Errorf("the pull request: %+v", last)
	}
	return last.Number
}

// TestAccPullRequestRemovalWaits: with auto-merge, a rendering that moves is removed from its old branch only once
// the new one holds it, and by people.
func TestAccPullRequestRemovalWaits(t *testing.T) {
	t.Parallel()
	r := moving(t, "auto_merge", "squash", "reviewers", []string{"octocat"})
	r.expectPulls("merged")
	r.on.RequireStatus("live", "ci")
	r.setDestination("branch", "live")
	r.apply()
	r.expectEmptyPlan()
	arriving := r.expectPulls("merged", "open")
	if arriving.AutoMerge != "squash" {
		t.Errorf("the pull request: %+v", arriving)
	}
	r.expectPlaces("dev")
	r.set("value", "2") // another tree before it arrives
	r.apply()
	r.expectEmptyPlan()
	r.on.SetStatus(r.expectPulls("merged", "open").HeadCommit, "ci", "success")
	removal := r.expectRemoval("dev")
	r.expectPlaces("dev", "live")
	if asked := r.on.ReviewRequests(t, removal); !slices.Equal(asked, []string{"octocat"}) {
		t.Errorf("asked for a review: %v", asked)
	}
	// What people close stays, until reopen.
	r.on.Close(t, removal)
	r.expectEmptyPlan()
	r.delivery("auto_merge", "squash", "reopen", true)
	r.apply()
	r.on.Merge(t, r.expectPulls("merged", "merged", "closed", "open").Number, "squash")
	r.expectEmptyPlan()
	r.expectPlaces("live")
	r.set("value", "3")
	r.apply()
	r.on.SetStatus(r.last().HeadCommit, "ci", "success")
	r.expectEmptyPlan()
}

// TestAccPullRequestRemovalAtOnce: what arrives within the apply has its removal opened by it; with wait_for_merge it
// ends when both are merged.
func TestAccPullRequestRemovalAtOnce(t *testing.T) {
	t.Parallel()
	r := moving(t, "auto_merge", "squash")
	r.setDestination("branch", "live")
	if o := r.apply(); !strings.Contains(o.text(), "A pull request removes the rendering") {
		t.Errorf("the apply: %s", o.text())
	}
	r.expectEmptyPlan()
	removal := r.expectPulls("merged", "merged", "open")
	r.expectPlaces("dev", "live")
	r.expectArrived("live", r.on.PullRequests()[1].Number)
	r.on.Merge(t, removal.Number, "merge")
	r.expectEmptyPlan()

	gitserver.Git(t, r.on.Path, "branch", "third", "dev")
	r.delivery("auto_merge", "squash", "wait_for_merge", true)
	r.apply()
	r.setDestination("branch", "third")
	r.options("timeouts", map[string]any{"update": "3s"})
	r.expectError(
		[]string{"The pull request is not merged yet", "the next apply continues to wait"},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	r.on.Merge(t, r.expectPulls("merged", "merged", "merged", "merged", "open").Number, "merge")
	r.apply()
	r.expectEmptyPlan()
	r.expectPulls("merged", "merged", "merged", "merged", "merged")
	r.expectPlaces("third")
}

// expectArrived fails the test unless the state is of a branch, and of that pull request.
func (r *reviewed) expectArrived(branch string, number int) {
	r.t.Helper()
	now := r.rendered()
	pull, _ := now["pull_request"].(map[string]any)
	if now["delivered"] != true || now["commit_sha"] != gitserver.Rev(r.t, r.on.Path, branch) ||
		pull["number"] != float64(number) {
		r.t.Errorf("delivered is %v, commit_sha %v, pull_request %v", now["delivered"], now["commit_sha"], pull)
	}
}

// TestAccPullRequestRemovalGivenUp: a pending removal is handled by every next step: another move, a move back, no
// move, and a destroy.
func TestAccPullRequestRemovalGivenUp(t *testing.T) {
	t.Parallel()
	r := moving(t)
	gitserver.Git(t, r.on.Path, "branch", "third", "live")
	// On, before it arrived: one place is left to be removed.
	r.setDestination("branch", "live")
	r.apply()
	r.setDestination("branch", "third")
	r.apply()
	r.expectEmptyPlan()
	r.on.Merge(t, r.expectPulls("merged", "closed", "open").Number, "squash")
	removal := r.expectRemoval("dev")
	// Back, while the removal is open: it is closed, and the place in between goes.
	r.setDestination("branch", "dev")
	r.apply()
	r.expectPulls("merged", "closed", "merged", "closed", "open")
	if r.on.PullRequests()[3].Number != removal || r.last().Base != "third" {
		t.Errorf("the pull requests: %+v", r.on.PullRequests())
	}
	r.expectEmptyPlan()
	r.on.Merge(t, r.last().Number, "merge")
	r.expectEmptyPlan()
	r.expectPlaces("dev")
	// Kept after all: the open removal is closed.
	r.setDestination("branch", "live")
	r.apply()
	r.on.Merge(t, r.last().Number, "merge")
	removal = r.expectRemoval("dev")
	r.options("on_move", "keep")
	r.apply()
	r.expectEmptyPlan()
	if last := r.last(); last.Number != removal || last.State != "closed" {
		t.Errorf("the removal: %+v", last)
	}
	r.expectPlaces("dev", "live")
	// Pushed from now on: so is the removal.
	r.options("on_move", "remove")
	r.setDestination("branch", "third")
	r.apply()
	r.on.Merge(t, r.last().Number, "merge")
	removal = r.expectRemoval("live")
	r.options("delivery", map[string]any{"strategy": "push"})
	r.apply()
	r.expectEmptyPlan()
	if last := r.last(); last.Number != removal || last.State != "closed" {
		t.Errorf("the removal: %+v", last)
	}
	r.expectPlaces("dev", "third")
	// A destroy removes what is left anywhere.
	r.delivery()
	r.apply()
	r.setDestination("branch", "live")
	r.apply()
	r.on.Merge(t, r.last().Number, "merge")
	r.refresh()
	r.succeed("destroy", "-no-color", "-auto-approve")
	for _, p := range r.on.PullRequests() {
		if p.State == "open" {
			r.on.Merge(t, p.Number, "squash")
		}
	}
	r.expectPlaces("dev") // kept above
}

// TestAccPullRequestDestroyed: who approved a rendering, and asked for its merge, did not approve its removal: that
// is another pull request, from another branch. Created again, the rendering closes it.
func TestAccPullRequestDestroyed(t *testing.T) {
	t.Parallel()
	r := moving(t, "reviewers", []string{"octocat"})
	r.on.RequireStatus("dev", "ci")
	r.set("value", "2")
	r.apply()
	rendering := r.expectPulls("merged", "open")
	r.on.Review(t, rendering.Number, "octocat", "")
	r.on.AutoMerge(t, rendering.Number, "squash")
	r.succeed("destroy", "-no-color", "-auto-approve")
	removal := r.expectPulls("merged", "closed", "open")
	if removal.Head == rendering.Head || len(removal.Approvals) > 0 || removal.AutoMerge != "" ||
		!slices.Equal(removal.Reviewers, []string{"octocat"}) {
		t.Errorf("the removal: %+v", removal)
	}
	if closed := r.on.PullRequests()[1]; closed.Title != rendering.Title || closed.Body != rendering.Body {
		t.Errorf("the rendering's pull request became %+v", closed)
	}
	r.expectTree("dev", "large/app-a", "1")
	r.expectPlaces("dev")

	r.options("adopt", true) // the branch still holds the tree of before
	r.apply()
	r.expectPulls("merged", "closed", "closed", "open")
	r.expectEmptyPlan()
	r.set("value", "1") // what the branch holds
	r.apply()
	r.expectEmptyPlan()
	r.expectPulls("merged", "closed", "closed", "closed")
	r.delivery("auto_merge", "squash")
	r.on.RequireStatus("dev")
	r.apply()
	r.succeed("destroy", "-no-color", "-auto-approve")
	last := r.expectPulls("merged", "closed", "closed", "closed", "open")
	if last.AutoMerge != "" {
		t.Errorf("the removal: %+v", last)
	}
	// With nothing to propose, a create closes the removal too.
	r.apply()
	r.expectPulls("merged", "closed", "closed", "closed", "closed")
	r.expectPlaces("dev")
}
