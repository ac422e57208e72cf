package rendering_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// moving returns a rendering that was delivered to "dev" by pull request, and whose guardrails allow a move to "live".
func moving(t *testing.T, delivery ...any) *reviewed {
	t.Helper()
	r := newReviewed(t)
	gitserver.Git(t, r.on.Path, "branch", "live", "dev")
	r.options("guardrails", anyRemoval, "deletion_protection", false)
	r.delivery(delivery...)
	r.Apply()
	if last := r.last(); last.State == "open" {
		r.on.Merge(t, last.Number, "merge")
	}
	r.ExpectEmptyPlan()
	return r
}

// expectPlaces fails the test unless exactly these branches contain the tree.
func (r *reviewed) expectPlaces(want ...string) {
	r.T.Helper()
	var got []string
	for _, branch := range []string{"dev", "live", "third"} {
		if gitserver.Rev(r.T, r.on.Path, branch) != "" &&
			gitserver.Tree(r.T, r.on.Path, branch)["large/app-a/reconciler.yaml"] != "" {
			got = append(got, branch)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.T.Errorf("branches with the tree (-want +got):\n%s", diff)
	}
}

// expectRemoval applies the module. The test fails unless plan and apply warn that this opens a pull request that
// removes the rendering from a branch, and that people have to merge it.
func (r *reviewed) expectRemoval(from string) int {
	r.T.Helper()
	count := len(r.pulls())
	o := r.Terraform("plan", "-no-color", "-detailed-exitcode")
	if o.Code != 2 || !strings.Contains(o.Text(), "Previous location will be removed") ||
		!strings.Contains(o.Text(), `branch "`+from+`"`) {
		r.T.Errorf("the plan (exit code %d) does not announce the removal:\n%s\n%s", o.Code, o.Stdout, o.Stderr)
	}
	r.refresh()
	before := r.Rendered()
	if o := r.Apply(); !strings.Contains(o.Text(), "A pull request removes the rendering") {
		r.T.Errorf("the apply: %s", o.Text())
	}
	if diff := cmp.Diff(before, r.Rendered()); diff != "" {
		r.T.Errorf("the state (-before +after):\n%s", diff)
	}
	r.ExpectEmptyPlan()
	last := r.last()
	if len(r.pulls()) != count+1 || last.Base != from || last.State != "open" || last.AutoMerge != "" {
		r.T.Errorf("the pull request: %+v", last)
	}
	return last.Number
}

// TestAccPullRequestRemovalWaits: with auto-merge, a rendering that moves is removed from its previous branch only once
// the new branch contains it, and only people merge the removal.
func TestAccPullRequestRemovalWaits(t *testing.T) {
	t.Parallel()
	r := moving(t, "auto_merge", "squash", "reviewers", []string{"octocat"})
	r.expectPulls("merged")
	r.on.Require("live", "ci")
	r.setDestination("branch", "live")
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectPlaces("dev")
	r.on.SetStatus("", r.expectPulls("merged", "open").HeadCommit, "ci", "success")
	removal := r.expectRemoval("dev")
	r.expectPlaces("dev", "live")
	if asked := r.on.PullRequests()[removal-1].Asked; !slices.Equal(asked, []string{"octocat"}) {
		t.Errorf("asked for a review: %v", asked)
	}
	r.on.Merge(t, removal, "squash")
	r.ExpectEmptyPlan()
	r.expectPlaces("live")
}

// TestAccPullRequestRemovalInSameApply: if the tree is merged within the apply, the same apply opens the removal.
func TestAccPullRequestRemovalInSameApply(t *testing.T) {
	t.Parallel()
	r := moving(t, "auto_merge", "squash")
	r.setDestination("branch", "live")
	if o := r.Apply(); !strings.Contains(o.Text(), "A pull request removes the rendering") {
		t.Errorf("the apply: %s", o.Text())
	}
	r.ExpectEmptyPlan()
	r.expectPulls("merged", "merged", "open")
	r.expectPlaces("dev", "live")
	r.expectArrived("live", r.on.PullRequests()[1].Number)
}

// expectArrived fails the test unless the state has the head of the branch, and the number of the pull request.
func (r *reviewed) expectArrived(branch string, number int) {
	r.T.Helper()
	now := r.Rendered()
	pull, _ := now["pull_request"].(map[string]any)
	if now["delivered"] != true || now["commit_sha"] != gitserver.Rev(r.T, r.on.Path, branch) ||
		pull["number"] != float64(number) {
		r.T.Errorf("delivered is %v, commit_sha %v, pull_request %v", now["delivered"], now["commit_sha"], pull)
	}
}
