package rendering_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccConcurrentRenderingsOnOneBranch: all renderings on one branch are delivered, from one process and from two
// processes.
func TestAccConcurrentRenderingsOnOneBranch(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	paths := []string{`-var=paths=["a", "b", "c"]`, `-var=paths=["d", "e"]`}
	roots := []*acc.Root{newRenderings(t, repo), newRenderings(t, repo)}
	roots[1].StartProviders()
	var running sync.WaitGroup
	outs := make([]acc.Output, len(roots))
	for i, r := range roots {
		running.Go(func() { outs[i] = r.Terraform("apply", "-auto-approve", "-no-color", paths[i]) })
	}
	running.Wait()
	for _, out := range outs {
		if out.Code != 0 {
			t.Errorf("apply failed:\n%s\n%s", out.Stdout, out.Stderr)
		}
	}
	if got := gitserver.Log(t, repo, "all"); len(got) != 5 {
		t.Errorf("%d commits, want 5:\n%s", len(got), strings.Join(got, "\n"))
	}
	files := gitserver.Tree(t, repo, "all")
	for _, path := range []string{"a", "b", "c", "d", "e"} {
		if !strings.Contains(files[path+"/.kalypso/rendering.json"], fmt.Sprintf(`"environment": %q`, path)) ||
			files[path+"/large/README.md"] == "" {
			t.Errorf("the tree at %q is missing", path)
		}
	}
	for i, r := range roots {
		r.ExpectEmptyPlan(paths[i])
		running.Go(func() { outs[i] = r.Terraform("destroy", "-auto-approve", "-no-color", paths[i]) })
	}
	running.Wait()
	for _, out := range outs {
		if out.Code != 0 {
			t.Errorf("destroy failed:\n%s\n%s", out.Stdout, out.Stderr)
		}
	}
	if left := gitserver.Tree(t, repo, "all"); len(left) > 0 {
		t.Errorf("left on the branch: %v", left)
	}
	gitserver.Fsck(t, repo)
}

// TestAccRenderingConcurrentPush: people push between plan and apply, and between our read and our push. Their files
// stay on the branch. If the files are in our folders, a new plan is needed.
func TestAccRenderingConcurrentPush(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	server, url := gitserver.Serve(t, r.repo)
	r.setDestination("repo", url)
	gitserver.Seed(t, r.repo, "dev", map[string]string{"README.md": "Theirs.\n"})
	theirs := func(path string) func() {
		return func() { gitserver.Seed(t, r.repo, "dev", map[string]string{path: "Theirs.\n"}) }
	}
	plan := func() { t.Helper(); r.Succeed("plan", "-out=saved") }
	overtaken := func(texts ...string) {
		t.Helper()
		before := r.Rendered()
		out := r.Terraform("apply", "-no-color", "saved")
		after := r.Rendered()
		if before != nil { // the plan stores what it has read of the branch
			before["delivered"], after["delivered"] = nil, nil
		}
		state := acc.ToJSON(t, before)
		for _, text := range texts {
			if !strings.Contains(out.Text(), text) {
				t.Errorf("apply does not say %q:\n%s", text, out.Stderr)
			}
		}
		if out.Code == 0 || strings.Contains(out.Text(), "inconsistent") || acc.ToJSON(t, after) != state {
			t.Errorf("apply ended with %d and state %s:\n%s", out.Code, acc.ToJSON(t, after), out.Stderr)
		}
	}
	onTop := func(path string) {
		t.Helper()
		r.Succeed("apply", "saved")
		if log := gitserver.Log(t, r.repo, "dev"); log[0] != "Render environment dev" || log[1] != "Seed" {
			t.Errorf("the branch: %q", log[:2])
		}
		if files := gitserver.Tree(t, r.repo, "dev"); files[path] != "Theirs.\n" || files[".kalypso/rendering.json"] == "" {
			t.Errorf("the branch lost %s or the record", path)
		}
	}
	moved := []string{"The branch moved after the plan was made", "small", "Make a new plan"}

	// A create: files in our folders, and elsewhere.
	plan()
	theirs("large/x.txt")()
	overtaken("Folders are not owned by this rendering", "large")
	gitserver.SeedFiles(t, r.repo, "dev", "Seed", map[string]gitserver.File{"large": {}})
	plan()
	server.BeforeReceive(theirs("b.txt"))
	onTop("b.txt")

	// An update: files elsewhere, between plan and apply and during the push.
	r.Set("value", "2")
	plan()
	theirs("c.txt")()
	onTop("c.txt")
	r.Set("value", "3")
	plan()
	server.BeforeReceive(theirs("d.txt"))
	onTop("d.txt")

	// Files in our folders, at both moments: nothing is written, and the new plan lists the files.
	r.Set("value", "4")
	plan()
	theirs("small/e.txt")()
	overtaken(moved...)
	r.ExpectError([]string{"Drift: rendered folders changed outside Terraform", "small/e.txt"}, "plan", "-no-color")
	r.options("on_drift", "overwrite")
	plan()
	server.BeforeReceive(theirs("small/f.txt"))
	overtaken(moved...)
	r.expectCommits(1)

	// A move, from a folder that people are changing.
	r.setDestination("path", "clusters")
	r.options("guardrails", anyRemoval)
	plan()
	theirs("small/g.txt")()
	overtaken(moved...)
	r.setDestination("path", ".", "branch", "stage")
	r.options("create_branch", true)
	plan()
	theirs("small/h.txt")()
	overtaken(append(moved, "was not cleaned up")...)
	if gitserver.Tree(t, r.repo, "dev")["small/h.txt"] == "" {
		t.Error("the foreign file is gone")
	}
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectFiles("dev", "README.md", "b.txt", "c.txt", "d.txt")
	gitserver.Fsck(t, r.repo)
}

// TestAccRenderingRejected: a refused push is an error in the server's words. The state stays as it was, and the next
// apply works.
func TestAccRenderingRejected(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	hook := filepath.Join(r.repo, "hooks", "pre-receive")
	allow := func() {
		t.Helper()
		if err := os.Remove(hook); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func() {
		t.Helper()
		gitserver.Hook(t, r.repo, "pre-receive", "dev is protected: ask the platform team", 1)
	}
	said := []string{"The server refused the push", "dev is protected: ask the platform team", "Nothing was written"}

	r.options("create_branch", true)
	refuse()
	r.expectRefused(said, "apply", "-auto-approve")
	if r.Rendered() != nil {
		t.Error("a create that failed left a state")
	}
	allow()
	r.expectCommits(1)
	refuse()
	r.Set("value", "2")
	r.expectRefused(said, "apply", "-auto-approve")
	r.options("deletion_protection", false)
	r.Set("value", "1")
	r.expectCommits(0)
	r.expectRefused(said, "destroy", "-auto-approve")
	r.Set("value", "2")
	allow()
	r.expectCommits(1)

	// An HTTP server on which this token may only read.
	_, url := gitserver.Serve(t, r.repo, gitserver.WithPushDenied())
	r.setDestination("repo", url)
	r.options("on_move", "keep") // the provider can't know that it is the same branch
	r.expectCommits(0)
	r.Set("value", "3")
	r.expectRefused([]string{"Credentials refused", "this token may not write"}, "apply", "-auto-approve")
}

// TestAccRenderingKilled: if an apply is killed right after its push, the next apply recognizes its commit, and makes
// no second commit.
func TestAccRenderingKilled(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	_, url := gitserver.Serve(t, r.repo)
	r.setDestination("repo", url)
	r.options("create_branch", true)
	kill := func() {
		t.Helper()
		before := r.head()
		applyUntilPushed(t, r)
		if r.head() == before {
			t.Error("the apply was killed before it pushed")
		}
	}
	kill()
	if r.Rendered() != nil {
		t.Error("the apply was killed after it wrote the state")
	}
	r.expectCommits(0)
	// An update, here with one more cluster type, and a move are also recognized after a kill.
	r.Set("types", []string{"large", "small", "drone"})
	r.Set("value", "2")
	kill()
	r.expectCommits(0)
	r.setDestination("path", "clusters")
	r.options("guardrails", anyRemoval)
	kill()
	r.expectCommits(0)
	r.expectFiles("dev", append(defaultPaths("clusters"), "clusters/drone/README.md")...)
}

// Ctrl-C in a terminal interrupts all processes of an apply, also Git. The apply says that it was interrupted, and
// whether the branch has its commit.
func TestAccInterruptedPush(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.Apply()
	before := r.head()
	r.Set("value", "2")
	interrupt := func(hook string) string {
		t.Helper()
		return applyUntilHook(t, r, hook, func(cmd *exec.Cmd) {
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		})
	}
	printed := strings.Join(strings.Fields(interrupt("pre-receive")), " ")
	acc.ExpectTexts(t, printed, "Error: The apply was interrupted", "Nothing was pushed to branch \"dev\" of file://",
		"Plan again")
	if now := r.head(); now != before {
		t.Errorf("the branch is at %s", now)
	}
	r.expectUpdate(1)
	before = r.head()
	r.Set("value", "3")
	interrupt("post-receive")
	if r.head() == before {
		t.Error("nothing was pushed")
	}
	r.ExpectEmptyPlan() // the state contains the pushed commit
}

// applyUntilPushed starts an apply and kills all of its processes once the server has accepted its push and before it
// answers.
func applyUntilPushed(t *testing.T, r *rendering) {
	t.Helper()
	applyUntilHook(t, r, "post-receive", func(cmd *exec.Cmd) { acc.Kill(t, cmd) })
}

// applyUntilHook starts an apply, and stops it when the server runs a hook. It returns what the apply printed.
func applyUntilHook(t *testing.T, r *rendering, name string, stop func(*exec.Cmd)) string {
	t.Helper()
	pushed, done := filepath.Join(t.TempDir(), "pushed"), filepath.Join(t.TempDir(), "done")
	for _, fifo := range []string{pushed, done} {
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hook := filepath.Join(r.repo, "hooks", name)
	script := fmt.Sprintf("#!/bin/sh\ncat >/dev/null\necho > %q\nread -r line < %q\n", pushed, done)
	if err := programs.Write(hook, script); err != nil {
		t.Fatal(err)
	}
	cmd := r.Killable("apply", "-auto-approve", "-no-color")
	var printed strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended, told := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	go func() { defer close(told); _, _ = os.ReadFile(pushed) }() // ends once the hook has written to the pipe
	select {
	case <-told:
	case <-ended:
		t.Fatalf("the apply ended without a push:\n%s", printed.String())
	}
	stop(cmd)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		acc.Kill(t, cmd)
		t.Errorf("the apply did not end:\n%s", printed.String())
	}
	// Let the server's process continue, if it still runs. The pipe stays open with its line until the test ends: the hook
	// may open it later. An open for reading and writing does not wait for the hook.
	f, err := os.OpenFile(done, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	return printed.String()
}
