package provider_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// TestAccPullRequestMergedWhilePushed: a pull request that people merge while the next change is pushed stays as they
// know it. The change gets one of its own, on top of the merge, and our merge is nobody's drift.
func TestAccPullRequestMergedWhilePushed(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"merge", "squash", "rebase"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			r := newReviewed(t)
			r.apply()
			first := r.expectPulls("open")
			r.set("value", "2")
			r.fake.Git.BeforeReceive(func() { r.on.Merge(t, first.Number, method) })
			r.apply()
			second := r.expectPulls("merged", "open")
			if merged := r.on.PullRequests()[0]; merged.Title != first.Title || merged.Body != first.Body {
				t.Errorf("the merged pull request became %+v", merged)
			}
			if parent := strings.TrimSpace(gitserver.Git(t, r.on.Path, "rev-parse", second.HeadCommit+"^")); parent != r.head() {
				t.Errorf("the commit is on top of %s, and the target at %s", parent, r.head())
			}
			r.expectTree("dev", "large/app-a", "1")
			r.expectTree(second.Head, "large/app-a", "2")
			r.expectEmptyPlan()
			r.on.Merge(t, second.Number, method)
			r.expectEmptyPlan()
			r.refresh()
			r.expectDelivered(true, "merged")
			// And merged after the push, before it is described: with what was pushed.
			r.set("value", "3")
			r.apply()
			third := r.last()
			r.set("value", "4")
			r.mergeAfterPush(third.Number, method)
			r.apply()
			r.expectPulls("merged", "merged", "merged")
			r.expectTree("dev", "large/app-a", "4")
			r.expectEmptyPlan()
			r.refresh()
			r.expectDelivered(true, "merged")
		})
	}
}

// mergeAfterPush has a pull request merged once the next push to it is taken, before its text is changed.
func (r *reviewed) mergeAfterPush(number int, method string) {
	at := r.last().HeadCommit
	r.fake.Before("GET", "/pulls/", func() bool {
		if r.last().HeadCommit == at {
			return false
		}
		r.on.Merge(r.t, number, method)
		return true
	})
}

// TestAccPullRequestMergedBetween: merged between plan and apply, with nothing of others in it, the planned change
// goes on top.
func TestAccPullRequestMergedBetween(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.apply()
	r.set("value", "2")
	r.succeed("plan", "-out=saved")
	r.on.Merge(t, r.last().Number, "squash")
	r.succeed("apply", "-no-color", "saved")
	r.expectEmptyPlan()
	second := r.expectPulls("merged", "open")
	r.expectTree(second.Head, "large/app-a", "2")
	// With a change of others in it, it takes a new plan, which names that.
	r.set("value", "3")
	r.succeed("plan", "-out=saved")
	gitserver.Seed(t, r.on.Path, second.Head, map[string]string{"large/app-a/reconciler.yaml": "hotfix\n"})
	r.on.Merge(t, second.Number, "squash")
	r.expectError([]string{"The branch moved after the plan was made", "Make a new plan"}, "apply", "-no-color", "saved")
	r.expectError([]string{"Others changed the rendered folders"}, "plan", "-no-color")
}

// TestAccPullRequestAskedOnce: a reviewer is asked once: not again after another label, another tree, a round of
// waiting, or a lost state.
func TestAccPullRequestAskedOnce(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.on.AddTeam("platform")
	r.delivery("reviewers", []string{"octocat", "acme/platform"}, "wait_for_merge", true)
	r.options("timeouts", map[string]any{"create": "6s", "update": "6s"})
	wait := func() {
		t.Helper()
		r.expectError([]string{"The pull request is not merged yet"}, "apply", "-no-color", "-auto-approve")
	}
	asked := func(want ...string) {
		t.Helper()
		if got := r.on.ReviewRequests(t, 1); !slices.Equal(got, want) {
			t.Errorf("asked for a review: %v, want %v", got, want)
		}
	}
	wait()
	asked("octocat", "team:platform")
	r.on.Review(t, 1, "octocat", "")
	r.on.Review(t, 1, "ann", "platform")
	wait()
	r.delivery("reviewers", []string{"octocat", "acme/platform"}, "labels", []string{"a"})
	r.apply()
	r.delivery("reviewers", []string{"octocat", "acme/platform", "bob"}, "labels", []string{"b"})
	r.apply()
	asked("octocat", "team:platform", "bob")
	r.on.Review(t, 1, "bob", "")
	r.set("value", "2")
	r.apply()
	r.expectEmptyPlan()
	r.succeed("state", "rm", renderingAddress)
	r.delivery("reviewers", []string{"octocat", "acme/platform", "bob"}, "labels", []string{"c"})
	r.apply()
	r.expectEmptyPlan()
	asked("octocat", "team:platform", "bob")
	if last := r.expectPulls("open"); !slices.Equal(last.Labels, []string{"a", "b", "c"}) {
		t.Errorf("labels: %v", last.Labels)
	}
}

// TestAccPullRequestUnnamedCommits: a commit of people on our branch that no plan has listed is never removed, whatever
// on_drift says: with the state lost, pushed between plan and apply, or below our commit.
func TestAccPullRequestUnnamedCommits(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.options("on_drift", "overwrite")
	r.apply()
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
	r.set("value", "2")
	r.succeed("plan", "-out=saved")
	commit := theirs("apps/note.yaml")
	r.expectError([]string{"The branch moved after the plan was made", first.Head, "commits beside our folders"}, "apply",
		"-no-color", "saved")
	stays(commit)
	// With the state lost.
	r.succeed("state", "rm", renderingAddress)
	for _, command := range [][]string{{"plan", "-no-color"}, {"apply", "-no-color", "-auto-approve"}} {
		r.expectError([]string{"people pushed to the branch of pull request 1", "and the state does not know what",
			"close it"}, command...)
		stays(commit)
	}
	r.on.Close(t, first.Number)
	r.apply()
	r.expectEmptyPlan()
	r.expectPulls("closed", "open")
	// Below our commit: the next plan names that, and another tree drops it knowingly.
	folder := filepath.Join(t.TempDir(), "tree")
	gitserver.Git(t, r.on.Path, "worktree", "add", "--quiet", "--detach", folder, first.Head+"^")
	gitserver.Git(t, folder, "commit", "--quiet", "--allow-empty", "-m", "Theirs")
	gitserver.Git(t, folder, "cherry-pick", first.Head)
	commit = strings.TrimSpace(gitserver.Git(t, folder, "rev-parse", "HEAD"))
	gitserver.Git(t, r.on.Path, "worktree", "remove", "--force", folder)
	r.set("value", "3")
	r.succeed("plan", "-out=saved")
	gitserver.Git(t, r.on.Path, "update-ref", "refs/heads/"+first.Head, commit)
	r.expectError([]string{"The branch moved after the plan was made"}, "apply", "-no-color", "saved")
	stays(commit)
	if o := r.apply(); !strings.Contains(o.text(), "commits of others below ours") {
		t.Errorf("the apply: %s", o.text())
	}
	r.expectEmptyPlan()
}

// TestAccPullRequestMergedWhileWaiting: a merge is said as what it is, also where the time is up by then, where
// people are faster than auto-merge, and where it is into another branch.
func TestAccPullRequestMergedWhileWaiting(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("wait_for_merge", true)
	r.options("timeouts", map[string]any{"create": "2500ms", "update": "2500ms"})
	merge := func() { r.on.Merge(t, r.last().Number, "squash") }
	go func() {
		for !r.fake.HasAnswered("GET", "/pulls/1") { // the first look, after a second; the next one is when the time is up
			time.Sleep(20 * time.Millisecond)
		}
		merge()
	}()
	r.apply()
	r.expectEmptyPlan()
	r.expectDelivered(true, "merged")

	r.delivery("auto_merge", "squash")
	r.on.RequireStatus("dev", "ci")
	r.set("value", "2")
	r.fake.Before("POST", "/graphql", func() bool { merge(); return true })
	r.options("timeouts", nil)
	r.apply()
	r.expectEmptyPlan()
	r.expectDelivered(true, "merged")

	gitserver.Git(t, r.on.Path, "branch", "live", "dev")
	r.delivery("wait_for_merge", true)
	r.set("value", "3")
	r.fake.Before("GET", "/pulls/3", func() bool {
		r.on.Retarget(t, 3, "live")
		merge()
		return true
	})
	r.expectError([]string{"The pull request was closed"}, "apply", "-no-color", "-auto-approve")

	// With a change of others in it.
	r.set("value", "4")
	r.fake.Before("GET", "/pulls/4", func() bool {
		gitserver.Seed(t, r.on.Path, r.last().Head, map[string]string{"large/app-a/reconciler.yaml": "hotfix\n"})
		merge()
		return true
	})
	if o := r.apply(); !strings.Contains(o.text(), "The pull request was merged with changes of others") {
		t.Errorf("the apply: %s", o.text())
	}
}

// TestAccPullRequestTitle: a first line of the message that is longer than GitHub takes is cut; the commit has it
// whole.
func TestAccPullRequestTitle(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	long := strings.Repeat("ü 𝄞 ", 100)
	r.options("commit_message", long)
	r.apply()
	last := r.expectPulls("open")
	if n := len([]rune(last.Title)); n > 256 || n < 190 || !strings.HasSuffix(last.Title, "…") {
		t.Errorf("the title has %d characters: %s", n, last.Title)
	}
	if subject := gitserver.Log(t, r.on.Path, last.Head)[0]; subject != strings.TrimSpace(long) {
		t.Errorf("the commit's subject is %q", subject)
	}
	r.expectEmptyPlan()
}

// TestAccPullRequestCreateWaits: a create that waits in vain says which pull request it leaves, and the next one
// finds that, says so at plan, and goes on with it.
func TestAccPullRequestCreateWaits(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("wait_for_merge", true)
	r.options("timeouts", map[string]any{"create": "2s"})
	r.expectError([]string{
		"The pull request is not merged yet", "The state does not know pull request 1",
		"If you abandon the rendering, close it",
	},
		"apply", "-no-color", "-auto-approve")
	r.on.Edit(t, 1, r.last().Body+"\nLooks good to me.\n")
	r.set("value", "2")
	if o := r.succeed("plan", "-no-color"); !strings.Contains(o.text(), "A pull request is open already") ||
		!strings.Contains(o.text(), "Pull request 1 (") {
		t.Errorf("the plan: %s", o.text())
	}
	r.delivery()
	r.apply()
	r.expectEmptyPlan()
	r.expectPulls("open")
	r.expectTree(r.last().Head, "large/app-a", "2")
}

// TestAccPullRequestBaseMoved: GitHub refuses a merge for a moment after a push to the base. It is asked again.
func TestAccPullRequestBaseMoved(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("auto_merge", "rebase")
	r.fake.Fail("PUT", "/merge", 2, githubfake.BaseMoved())
	r.apply()
	r.expectEmptyPlan()
	r.expectPulls("merged")
	r.expectDelivered(true, "merged")
}
