package provider_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// killAt kills the apply that makes a request of a method to a path, once that has taken effect and before it is
// answered.
func (r *reviewed) killAt(method, path string) {
	r.t.Helper()
	r.fake.Fail(method, path, 1, githubfake.Failure{Delay: time.Hour, After: true})
	cmd := r.killable("apply", "-auto-approve", "-no-color")
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	for !r.fake.HasDelayed() {
		select {
		case <-ended:
			r.t.Fatalf("the apply ended without %s %s", method, path)
		case <-time.After(20 * time.Millisecond):
		}
	}
	kill(r.t, cmd)
	<-ended
	r.fake.ClearFailures()
}

// TestAccPullRequestKilled: an apply that is killed anywhere is taken up by the next one: never two pull requests.
func TestAccPullRequestKilled(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	applyUntilPushed(t, r.rendering)
	if len(r.pulls()) > 0 {
		t.Fatal("the apply was killed after it opened the pull request")
	}
	r.set("value", "2") // and the fleet moves on
	r.killAt("POST", "/pulls")
	if r.rendered() != nil {
		t.Fatal("the apply was killed after it wrote the state")
	}
	first := r.expectPulls("open")
	r.apply()
	r.expectEmptyPlan()
	if last := r.expectPulls("open"); last.HeadCommit != first.HeadCommit {
		t.Error("our branch was written anew")
	}
	// An update that was pushed, and not described.
	r.set("value", "3")
	applyUntilPushed(t, r.rendering)
	r.apply()
	r.expectEmptyPlan()
	r.expectPulls("open")
	r.expectDelivered(false, "open")
	r.expectTree(first.Head, "large/app-a", "3")
	r.set("value", "3b")
	applyUntilPushed(t, r.rendering)
	r.set("value", "3c") // what moved our branch is nobody else's
	r.apply()
	r.expectEmptyPlan()
	// And one whose answer is lost on its way.
	r.on.Merge(t, first.Number, "merge")
	r.set("value", "4")
	r.fake.Fail("POST", "/pulls", 1, githubfake.AnswerLost())
	r.apply()
	r.expectPulls("merged", "open")

	// What a killed apply left is closed by a destroy, though no state knows it.
	r.on.Merge(t, r.last().Number, "merge")
	r.options("deletion_protection", false)
	r.apply()
	r.set("value", "5")
	r.killAt("POST", "/pulls")
	r.expectPulls("merged", "merged", "open")
	gitserver.Git(t, r.on.Path, "update-ref", "refs/heads/dev",
		strings.TrimSpace(gitserver.Git(t, r.on.Path, "rev-list", "--max-parents=0", "dev")))
	at := r.head()
	r.succeed("destroy", "-no-color", "-auto-approve", "-refresh=false")
	if last := r.expectPulls("merged", "merged", "closed"); gitserver.Rev(t, r.on.Path, last.Head) != "" ||
		r.head() != at {
		t.Error("our branch stays, or the target moved")
	}
}

// TestAccPullRequestWaits: an apply waits for the merge, and fails without it. The next one continues with the same
// pull request, and nothing is replaced.
func TestAccPullRequestWaits(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("wait_for_merge", true)
	r.options("timeouts", map[string]any{"create": "3s", "update": "3s"})
	short := func() {
		t.Helper()
		r.expectError([]string{"The pull request is not merged yet", "the next apply continues to wait"}, "apply",
			"-no-color", "-auto-approve")
	}
	merging := func(method string) {
		t.Helper()
		r.options("timeouts", nil)
		merged := make(chan struct{})
		go func() {
			defer close(merged)
			for !r.fake.HasAnswered("GET", "/pulls/") { // it waits
				time.Sleep(20 * time.Millisecond)
			}
			r.on.Merge(t, r.last().Number, method)
		}()
		r.fake.ResetLog()
		o := r.apply()
		<-merged
		r.expectEmptyPlan()
		r.expectDelivered(true, "merged")
		if strings.Contains(o.text(), "destroyed.") && !strings.Contains(o.text(), " 0 destroyed.") {
			t.Errorf("the apply replaces: %s", o.text())
		}
	}
	short()
	if r.rendered() != nil {
		t.Error("a create that ran out of time left a state")
	}
	short()
	r.expectPulls("open")
	merging("squash")
	r.expectPulls("merged")

	r.set("value", "2")
	r.options("timeouts", map[string]any{"update": "3s"})
	short()
	r.set("value", "3") // the fleet moves on, and nobody else pushed
	short()
	r.expectPulls("merged", "open")
	merging("rebase")
	r.expectPulls("merged", "merged")

	r.set("value", "4")
	r.options("timeouts", map[string]any{"update": "3s"})
	short()
	r.on.Close(t, r.last().Number)
	r.expectError([]string{"The pull request was closed", "delivery.reopen = true"}, "apply", "-no-color", "-auto-approve")
	r.expectPulls("merged", "merged", "closed")
	// Merged between two runs.
	r.delivery("wait_for_merge", true, "reopen", true)
	short()
	r.on.Merge(t, r.last().Number, "merge")
	r.apply()
	r.expectEmptyPlan()
	r.expectDelivered(true, "merged")
	r.expectPulls("merged", "merged", "closed", "merged")
	// A destroy waits too; once the removal is merged, there is nothing left to destroy.
	r.options("deletion_protection", false, "timeouts", map[string]any{"delete": "2s"})
	r.apply()
	r.expectError([]string{"The pull request is not merged yet"}, "destroy", "-no-color", "-auto-approve")
	r.on.Merge(t, r.expectPulls("merged", "merged", "closed", "merged", "open").Number, "squash")
	r.succeed("destroy", "-no-color", "-auto-approve")
	r.expectPulls("merged", "merged", "closed", "merged", "merged")
	if r.rendered() != nil {
		t.Error("the rendering is still in the state")
	}
}

// TestAccPullRequestAutoMerge: GitHub merges by itself, at once or once the checks have passed.
func TestAccPullRequestAutoMerge(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("auto_merge", "squash")
	r.apply()
	r.expectPulls("merged")
	r.expectDelivered(true, "merged")
	r.expectEmptyPlan()

	r.on.RequireStatus("dev", "ci")
	r.set("value", "2")
	r.apply()
	r.expectEmptyPlan()
	last := r.expectPulls("merged", "open")
	if last.AutoMerge != "squash" {
		t.Errorf("auto-merge is %q", last.AutoMerge)
	}
	// What the provider asked GitHub for it takes back, and not what people asked it.
	r.delivery()
	r.apply()
	r.expectEmptyPlan()
	if now := r.last(); now.AutoMerge != "" || now.HeadCommit != last.HeadCommit {
		t.Errorf("people are to merge: %+v", now)
	}
	r.on.AutoMerge(t, last.Number, "merge")
	r.set("value", "2b")
	r.apply()
	if now := r.last(); now.AutoMerge != "merge" {
		t.Errorf("what people asked for is %q", now.AutoMerge)
	}
	r.delivery("auto_merge", "squash")
	r.apply()
	r.on.SetStatus(r.last().HeadCommit, "ci", "success")
	r.expectEmptyPlan()
	r.refresh()
	r.expectDelivered(true, "merged")

	// What a pull request is to be like reaches the open one.
	r.delivery("draft", true)
	r.set("value", "3")
	r.apply()
	if !r.last().Draft {
		t.Error("the pull request is no draft")
	}
	r.delivery("labels", []string{"platform"})
	head := r.last().HeadCommit
	r.apply()
	r.expectEmptyPlan()
	if last := r.last(); last.Draft || !slices.Equal(last.Labels, []string{"platform"}) || last.HeadCommit != head {
		t.Errorf("the pull request: %+v", last)
	}
}
