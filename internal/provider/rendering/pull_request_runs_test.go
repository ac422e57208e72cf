package rendering_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// killAt runs an apply, and kills it at a request, after the server has carried the request out and before it answers.
func (r *reviewed) killAt(method, path string) {
	r.T.Helper()
	r.fake.Fail(method, path, 1, hostfake.Failure{Delay: time.Hour, After: true})
	cmd := r.Killable("apply", "-auto-approve", "-no-color")
	if err := cmd.Start(); err != nil {
		r.T.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	for !r.fake.HasDelayed() {
		select {
		case <-ended:
			r.T.Fatalf("the apply ended without %s %s", method, path)
		case <-time.After(20 * time.Millisecond):
		}
	}
	acc.Kill(r.T, cmd)
	<-ended
	r.fake.ClearFailures()
}

// TestAccPullRequestKilled: if a create is killed at any request, the next create continues it. There are never two
// pull requests.
func TestAccPullRequestKilled(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	applyUntilPushed(t, r.rendering)
	if len(r.pulls()) > 0 {
		t.Fatal("the apply was killed after it opened the pull request")
	}
	r.Set("value", "2") // and the fleet changes meanwhile
	r.killAt("POST", "/pulls")
	if r.Rendered() != nil {
		t.Fatal("the apply was killed after it wrote the state")
	}
	first := r.expectPulls("open")
	r.Apply()
	r.ExpectEmptyPlan()
	if last := r.expectPulls("open"); last.HeadCommit != first.HeadCommit {
		t.Error("our branch was written again")
	}
}

// TestAccPullRequestWaits: an apply waits for the merge, and fails if it runs out of time. The next apply continues
// with the same pull request, and replaces nothing.
func TestAccPullRequestWaits(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("wait_for_merge", true)
	r.options("timeouts", map[string]any{"create": "10s", "update": "10s"})
	short := func() {
		t.Helper()
		r.ExpectError([]string{"The pull request is not merged yet", "the next apply continues to wait"}, "apply",
			"-no-color", "-auto-approve")
	}
	merging := func(method string) {
		t.Helper()
		r.options("timeouts", nil)
		merged := make(chan struct{})
		go func() {
			defer close(merged)
			for !r.fake.HasAnswered("GET", "/pulls/") { // the apply waits
				time.Sleep(20 * time.Millisecond)
			}
			r.on.Merge(t, r.last().Number, method)
		}()
		r.fake.ResetLog()
		o := r.Apply()
		<-merged
		r.ExpectEmptyPlan()
		r.expectDelivered(true, "merged")
		if strings.Contains(o.Text(), "destroyed.") && !strings.Contains(o.Text(), " 0 destroyed.") {
			t.Errorf("the apply replaces: %s", o.Text())
		}
	}
	short()
	if r.Rendered() != nil {
		t.Error("a create that ran out of time left a state")
	}
	merging("squash")
	r.expectPulls("merged")

	r.Set("value", "2")
	r.options("timeouts", map[string]any{"update": "10s"})
	short()
	r.on.Close(t, r.last().Number)
	r.ExpectError(
		[]string{"The pull request was closed", "delivery.reopen = true"},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	r.expectPulls("merged", "closed")
	// The pull request is merged between two runs.
	r.delivery("wait_for_merge", true, "reopen", true)
	short()
	r.on.Merge(t, r.last().Number, "merge")
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectDelivered(true, "merged")
	r.expectPulls("merged", "closed", "merged")
	// A destroy waits too; once the removal is merged, there is nothing left to destroy.
	r.options("deletion_protection", false, "timeouts", map[string]any{"delete": "10s"})
	r.Apply()
	r.ExpectError([]string{"The pull request is not merged yet"}, "destroy", "-no-color", "-auto-approve")
	r.on.Merge(t, r.expectPulls("merged", "closed", "merged", "open").Number, "squash")
	r.Succeed("destroy", "-no-color", "-auto-approve")
	r.expectPulls("merged", "closed", "merged", "merged")
	if r.Rendered() != nil {
		t.Error("the rendering is still in the state")
	}
}

// TestAccPullRequestAutoMerge: GitHub merges the pull request itself. Changed settings are applied to an open pull
// request.
func TestAccPullRequestAutoMerge(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("auto_merge", "squash")
	r.Apply()
	r.expectPulls("merged")
	r.expectDelivered(true, "merged")
	r.ExpectEmptyPlan()

	// The provider withdraws only its own requests to GitHub, which the private state lists.
	r.on.Require("dev", "ci")
	r.Set("value", "2")
	r.Apply()
	last := r.expectPulls("merged", "open")
	if last.AutoMerge != "squash" {
		t.Errorf("auto-merge is %q", last.AutoMerge)
	}
	r.delivery("draft", true)
	r.Apply()
	r.ExpectEmptyPlan()
	if now := r.last(); now.AutoMerge != "" || !now.Draft || now.HeadCommit != last.HeadCommit {
		t.Errorf("only people may merge it: %+v", now)
	}
}
