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

// expectPlaces fails the test unless exactly these branches contain the tree.
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

// expectRemoval applies the module. The test fails unless plan and apply warn that this opens a pull request that
// removes the rendering from a branch, and that people have to merge it.
func (r *reviewed) expectRemoval(from string) int {
	r.t.Helper()
	count := len(r.pulls())
	o := r.terraform("plan", "-no-color", "-detailed-exitcode")
	if o.code != 2 || !strings.Contains(o.text(), "Previous location will be removed") ||
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

// TestAccPullRequestRemovalWaits: with auto-merge, a rendering that moves is removed from its previous branch only once
// the new one contains it, and only people merge that.
func TestAccPullRequestRemovalWaits(t *testing.T) {
	t.Parallel()
	r := moving(t, "auto_merge", "squash", "reviewers", []string{"octocat"})
	r.expectPulls("merged")
	r.on.RequireStatus("live", "ci")
	r.setDestination("branch", "live")
	r.apply()
	r.expectEmptyPlan()
	r.expectPlaces("dev")
	r.on.SetStatus(r.expectPulls("merged", "open").HeadCommit, "ci", "success")
	removal := r.expectRemoval("dev")
	r.expectPlaces("dev", "live")
	if asked := r.on.ReviewRequests(t, removal); !slices.Equal(asked, []string{"octocat"}) {
		t.Errorf("asked for a review: %v", asked)
	}
	r.on.Merge(t, removal, "squash")
	r.expectEmptyPlan()
	r.expectPlaces("live")
}

// TestAccPullRequestRemovalAtOnce: if the tree is merged within the apply, the same apply opens the removal.
func TestAccPullRequestRemovalAtOnce(t *testing.T) {
	t.Parallel()
	r := moving(t, "auto_merge", "squash")
	r.setDestination("branch", "live")
	if o := r.apply(); !strings.Contains(o.text(), "A pull request removes the rendering") {
		t.Errorf("the apply: %s", o.text())
	}
	r.expectEmptyPlan()
	r.expectPulls("merged", "merged", "open")
	r.expectPlaces("dev", "live")
	r.expectArrived("live", r.on.PullRequests()[1].Number)
}

// expectArrived fails the test unless the state names that branch and that pull request.
func (r *reviewed) expectArrived(branch string, number int) {
	r.t.Helper()
	now := r.rendered()
	pull, _ := now["pull_request"].(map[string]any)
	if now["delivered"] != true || now["commit_sha"] != gitserver.Rev(r.t, r.on.Path, branch) ||
		pull["number"] != float64(number) {
		r.t.Errorf("delivered is %v, commit_sha %v, pull_request %v", now["delivered"], now["commit_sha"], pull)
	}
}
