package rendering_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccPullRequestAsksReviewersOnce: the private state lists the requested reviewers, so that an apply requests no
// reviewer twice.
func TestAccPullRequestAsksReviewersOnce(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.on.AddTeam("platform")
	r.delivery("reviewers", []string{"octocat", "acme/platform"})
	r.Apply()
	r.on.Review(t, 1, "octocat", "")
	r.on.Review(t, 1, "ann", "platform")
	r.delivery("reviewers", []string{"octocat", "acme/platform", "bob"}, "labels", []string{"a"})
	r.fake.ResetLog()
	r.Apply()
	if got, want := r.on.PullRequests()[0].Asked, []string{"octocat", "acme/platform", "bob"}; !slices.Equal(got, want) {
		t.Errorf("asked for a review: %v, want %v", got, want)
	}
	if r.fake.HasAnswered("GET", "/reviews") || r.fake.HasAnswered("GET", "/timeline") {
		t.Error("the apply reads the reviews from GitHub, although the private state lists the requested reviewers")
	}
	r.ExpectEmptyPlan()
}

// TestAccPullRequestUnnamedCommits: a commit of people on our branch that no plan has listed is never removed, with any
// on_drift: neither a commit that was pushed between plan and apply, nor a commit that is found after the state was
// lost.
func TestAccPullRequestUnnamedCommits(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.options("on_drift", "overwrite")
	r.Apply()
	first := r.last()
	theirs := func(path string) string {
		return gitserver.Seed(t, r.on.Path, first.Head, map[string]string{path: "theirs\n"})
	}
	stays := func(commit string) {
		t.Helper()
		if head := gitserver.Rev(t, r.on.Path, first.Head); head != commit {
			t.Errorf("our branch moved from %s to %s", commit, head)
		}
	}
	// Between plan and apply.
	r.Set("value", "2")
	r.Succeed("plan", "-out=saved")
	commit := theirs("apps/note.yaml")
	r.ExpectError([]string{"The branch moved after the plan was made", first.Head, "commits beside our folders"}, "apply",
		"-no-color", "saved")
	stays(commit)
	// After the state was lost.
	r.Succeed("state", "rm", renderingAddress)
	r.ExpectError([]string{"people pushed to the branch of pull request 1", "and the state does not know their change",
		"close it"}, "plan", "-no-color")
	stays(commit)
}

// TestAccPullRequestMergedWhileWaiting: the apply reports the merge, even with foreign changes. A merge just as the
// time runs out is a row of TestSituations.
func TestAccPullRequestMergedWhileWaiting(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("wait_for_merge", true)
	go func() {
		for !r.fake.HasAnswered("GET", "/pulls/1") { // the apply waits
			time.Sleep(20 * time.Millisecond)
		}
		r.on.Merge(t, 1, "squash")
	}()
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectDelivered(true, "merged")

	r.Set("value", "2")
	r.fake.Before("GET", "/pulls/2", func() bool {
		gitserver.Seed(t, r.on.Path, r.last().Head, map[string]string{"large/app-a/reconciler.yaml": "hotfix\n"})
		r.on.Merge(t, 2, "squash")
		return true
	})
	if o := r.Apply(); !strings.Contains(o.Text(), "The pull request was merged with changes made outside Terraform") {
		t.Errorf("the apply: %s", o.Text())
	}
}

// TestAccPullRequestWaitTimesOut: a create that waits in vain names the pull request that it leaves open. The plan of
// the next create names this pull request again, and the create continues with it.
func TestAccPullRequestWaitTimesOut(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("wait_for_merge", true)
	r.options("timeouts", map[string]any{"create": "10s"})
	r.ExpectError([]string{
		"The pull request is not merged yet", "The state does not know pull request 1",
		"If you abandon the rendering, close it",
	},
		"apply", "-no-color", "-auto-approve")
	r.on.Edit(t, 1, r.last().Title, r.last().Body+"\nLooks good to me.\n")
	r.Set("value", "2")
	if o := r.Succeed("plan", "-no-color"); !strings.Contains(o.Text(), "A pull request is already open") ||
		!strings.Contains(o.Text(), "Pull request 1 (") {
		t.Errorf("the plan: %s", o.Text())
	}
	r.delivery()
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectPulls("open")
	r.expectTree(r.last().Head, "large/app-a", "2")
}
