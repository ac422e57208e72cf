package gitbranch_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

var first = map[string]string{
	"app/config.yaml": "a: 1\n", "app/x.yaml": "x\n", "app-2/config.yaml": "a: 2\n", "app.txt": "t\n",
	"README.md": "# r\n",
}

// TestPushCreatesChangesAndRemovesFolder creates a folder, changes it, changes nothing, and removes it.
func TestPushCreatesChangesAndRemovesFolder(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		_, err := push(t.Context(), b, gitbranch.PushOptions{}, returnEdit(edit("no", folder("large", first))))
		fails(t, err, gitbranch.ErrBranchNotFound)

		made := mustPush(t, b, gitbranch.PushOptions{CreateBranch: true}, edit("one", folder("large", first)))
		equal(t, "pushed", made.Pushed, true)
		equal(t, "head", gitserver.Rev(t, repo, "main"), made.Commit.String())

		again := mustPush(t, b, gitbranch.PushOptions{}, edit("two", folder("large", first)))
		equal(t, "unchanged", again, gitbranch.PushResult{Commit: made.Commit})
		nothing := mustPush(t, b, gitbranch.PushOptions{}, nil)
		equal(t, "no edit", nothing, gitbranch.PushResult{Commit: made.Commit})

		e := edit("three", folder("large", map[string]string{"app/config.yaml": "a: 3\n"}), folder("deep/er", first))
		e.Files = map[string][]byte{"Promoted_Commit_Id": []byte("abc"), ".kalypso/rendering.json": []byte("{}\n")}
		mustPush(t, b, gitbranch.PushOptions{}, e)
		want := map[string]string{
			"large/app/config.yaml": "a: 3\n", "Promoted_Commit_Id": "abc", ".kalypso/rendering.json": "{}\n",
		}
		for p, c := range first {
			want["deep/er/"+p] = c
		}
		equal(t, "tree", gitserver.Tree(t, repo, "main"), want)

		gone := edit("four")
		gone.Remove = []string{"deep/er", "large", ".kalypso/rendering.json", "never/there"}
		mustPush(t, b, gitbranch.PushOptions{}, gone)
		equal(t, "tree after the removal", gitserver.Tree(t, repo, "main"), map[string]string{"Promoted_Commit_Id": "abc"})
		equal(t, "log", gitserver.Log(t, repo, "main"), []string{"four", "three", "one"})
		gitserver.Fsck(t, repo)
	})
}

// TestPushKeepsForeignFiles: links, executables, submodules and files next to ours keep their bytes and modes.
func TestPushKeepsForeignFiles(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "main", map[string]string{"large/old.yaml": "old\n", "zone/large/theirs": "1\n", "a-b": "",
			"a/b": ""})
		gitserver.SeedFiles(t, repo, "main", "others", map[string]gitserver.File{
			"run.sh":         {Mode: "100755", Content: "#!/bin/sh\n"},
			"zone/link":      {Mode: "120000", Content: "../run.sh"},
			"zone/module":    {Mode: "160000", Content: "1111111111111111111111111111111111111111"},
			"zone/large/bin": {Mode: "100755", Content: "x"},
		})
		before := gitserver.Modes(t, repo, "main")
		mustPush(t, b, gitbranch.PushOptions{}, edit("ours", folder("large", first), folder("zone/small", first)))
		after := gitserver.Modes(t, repo, "main")
		delete(before, "large/old.yaml")
		for p := range first {
			delete(after, "large/"+p)
			delete(after, "zone/small/"+p)
		}
		equal(t, "foreign files", after, before)
		gitserver.Fsck(t, repo)
	})
}

// TestPushCreatesSecondBranch: a new branch starts with our commit only, although the repo has another branch.
func TestPushCreatesSecondBranch(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "other", map[string]string{"x": "y"})
		mustPush(t, b, gitbranch.PushOptions{CreateBranch: true}, edit("one", folder("large", first)))
		equal(t, "log", gitserver.Log(t, repo, "main"), []string{"one"})
		equal(t, "other", gitserver.Tree(t, repo, "other"), map[string]string{"x": "y"})
		gitserver.Fsck(t, repo)
	})
}

// TestPushRace: another push happens between our read and our push.
func TestPushRace(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		tries := 0
		race := func(*gitbranch.Attempt) *gitbranch.Edit {
			tries++
			if tries <= 2 {
				gitserver.Seed(t, repo, "main", map[string]string{"theirs": string(rune('0' + tries))})
			}
			return edit("ours", folder("large", map[string]string{"a": "b"}))
		}
		r, err := push(t.Context(), b, noBackoff, race)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "tries", tries, 3)
		equal(t, "head", gitserver.Rev(t, repo, "main"), r.Commit.String())
		equal(t, "tree", gitserver.Tree(t, repo, "main"), map[string]string{"x": "1", "theirs": "2", "large/a": "b"})
		equal(t, "log", gitserver.Log(t, repo, "main"), []string{"ours", "Seed", "Seed", "Seed"})
	})
}

var noBackoff = gitbranch.PushOptions{}.WithBackoff(func(ctx context.Context, _ int) error { return ctx.Err() })

// TestPushRaceAtServer: the branch moves after the server listed it, so that the server rejects the push.
func TestPushRaceAtServer(t *testing.T) {
	for _, create := range []bool{false, true} {
		repo := gitserver.InitBare(t)
		server, url := gitserver.Serve(t, repo)
		if !create {
			gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		}
		server.BeforeReceive(func() { gitserver.Seed(t, repo, "main", map[string]string{"theirs": "2"}) })
		opts := noBackoff
		opts.CreateBranch = true
		mustPush(t, open(t, url, "main"), opts, edit("ours", folder("large", map[string]string{"a": "b"})))
		equal(t, "newest", gitserver.Log(t, repo, "main")[:2], []string{"ours", "Seed"})
	}
}

// TestPushStopsAfterAttempts: the number of attempts is limited.
func TestPushStopsAfterAttempts(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
	n := 0
	_, err := push(t.Context(), open(t, repo, "main"), noBackoff.WithMaxAttempts(3),
		func(*gitbranch.Attempt) *gitbranch.Edit {
			n++
			gitserver.Seed(t, repo, "main", map[string]string{"theirs": string(rune('0' + n))})
			return edit("ours", folder("large", map[string]string{"a": "b"}))
		})
	fails(t, err, gitremote.ErrBranchMoved)
	equal(t, "tries", n, 3)
}

// TestPushBrokenAnswer: the server accepts the push, and the connection breaks before the answer. The push
// succeeds.
func TestPushBrokenAnswer(t *testing.T) {
	repo := gitserver.InitBare(t)
	server, url := gitserver.Serve(t, repo)
	server.DropAnswer()
	r := mustPush(t, open(t, url, "main"), gitbranch.PushOptions{CreateBranch: true}, edit("ours", folder("large", first)))
	equal(t, "result", r, gitbranch.PushResult{Commit: plumbing.NewHash(gitserver.Rev(t, repo, "main")), Pushed: true})
	equal(t, "log", gitserver.Log(t, repo, "main"), []string{"ours"})
}

// TestPushRejected: a hook rejects the push with its own message.
func TestPushRejected(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		gitserver.Hook(t, repo, "pre-receive", "main is protected: cannot lock ref\nask the fleet team", 1)
		_, err := push(t.Context(), b, noBackoff, returnEdit(edit("ours", folder("large", first))))
		fails(t, err, gitremote.ErrRejected)
		var rejected *gitremote.RejectedError
		if !as(err, &rejected) {
			t.Fatalf("no RejectedError in %v", err)
		}
		equal(t, "rejection", *rejected, gitremote.RejectedError{
			Reason: "pre-receive hook declined",
			Output: []string{"main is protected: cannot lock ref", "ask the fleet team"},
		})
		equal(t, "head", gitserver.Rev(t, repo, "main"), head)
	})
}

// TestPushBranchNameConflict: beside a branch rel/one, Git allows no branch rel and no branch rel/one/more.
func TestPushBranchNameConflict(t *testing.T) {
	for _, backend := range gitserver.Transports() {
		repo := gitserver.InitBare(t)
		gitserver.Seed(t, repo, "rel/one", map[string]string{"x": "1"})
		url, credentials := backend.Start(t, repo)
		for _, name := range []string{"rel", "rel/one/more"} {
			_, err := push(t.Context(), open(t, url, name, credentials...), gitbranch.PushOptions{CreateBranch: true},
				returnEdit(edit("ours", folder("large", first))))
			var rejected *gitremote.RejectedError
			if !as(err, &rejected) {
				t.Fatalf("no RejectedError in %v", err)
			}
			equal(t, "rejection", *rejected, gitremote.RejectedError{
				Reason: fmt.Sprintf("the repo has the branch %q, and Git does not allow %q next to it", "rel/one", name),
			})
		}
	}
}

// TestPushCancelled: if the context ends, the push and Head return its error, and nothing is pushed.
func TestPushCancelled(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := push(ctx, b, noBackoff, func(*gitbranch.Attempt) *gitbranch.Edit {
			cancel()
			return edit("ours", folder("large", first))
		})
		fails(t, err, context.Canceled)
		_, err = b.Head(ctx)
		fails(t, err, context.Canceled)
		equal(t, "head", gitserver.Rev(t, repo, "main"), head)
	})
}

func TestPushMissingRepo(t *testing.T) {
	for _, backend := range gitserver.Transports() {
		url, credentials := backend.Start(t, filepath.Join(t.TempDir(), "none.git"))
		_, err := push(t.Context(), open(t, url, "main", credentials...), noBackoff, returnEdit(nil))
		fails(t, err, gitremote.ErrRepoNotFound)
	}
}

// TestAttemptsEnd: whatever ends the loop over the attempts, the branch is unlocked, and no attempt follows.
func TestAttemptsEnd(t *testing.T) {
	ours := edit("ours", folder("large", first))
	for _, test := range []struct {
		name   string
		body   func(ctx context.Context, a *gitbranch.Attempt) (next bool)
		bodies int // that run
		pushed bool
		want   error // that the loop yields
	}{
		{name: "the body returns", body: func(context.Context, *gitbranch.Attempt) bool { return false }, bodies: 1},
		{name: "the body pushes nothing, and goes on",
			body: func(context.Context, *gitbranch.Attempt) bool { return true }, bodies: 1},
		{name: "the body pushes, and goes on", bodies: 1, pushed: true,
			body: func(ctx context.Context, a *gitbranch.Attempt) bool { _, _ = a.Push(ctx, ours); return true }},
		{name: "the push fails, and the body goes on", bodies: 1, want: gitbranch.ErrOverlap,
			body: func(ctx context.Context, a *gitbranch.Attempt) bool {
				_, _ = a.Push(ctx, edit("ours", folder("a", first), folder("a", first)))
				return true
			}},
		{name: "the push fails, and the body returns", bodies: 1,
			body: func(ctx context.Context, a *gitbranch.Attempt) bool {
				_, err := a.Push(ctx, edit("ours", folder("a", first), folder("a", first)))
				return err == nil
			}},
		{name: "the body panics", bodies: 1, body: func(context.Context, *gitbranch.Attempt) bool { panic("a fault") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			repo := gitserver.InitBare(t)
			head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
			b := open(t, repo, "main")
			bodies := 0
			var yielded error
			func() {
				defer func() { _ = recover() }()
				for attempt, err := range b.Attempts(t.Context(), noBackoff) {
					if err != nil {
						yielded = err
						return
					}
					bodies++
					if !test.body(t.Context(), attempt) {
						return
					}
				}
			}()
			equal(t, "bodies", bodies, test.bodies)
			if test.want != nil {
				fails(t, yielded, test.want)
			} else if yielded != nil {
				t.Error(yielded)
			}
			equal(t, "pushed", gitserver.Rev(t, repo, "main") != head, test.pushed)

			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // it waits forever if the branch is locked
			defer cancel()
			if _, err := push(ctx, b, noBackoff, returnEdit(edit("next", folder("next", first)))); err != nil {
				t.Errorf("the next push: %v", err)
			}
		})
	}
}

// TestAttemptsReadAgain: the attempt after a moved branch reads the branch again, and the snapshots of the attempt
// before it are closed.
func TestAttemptsReadAgain(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		var read []string
		for attempt, err := range b.Attempts(t.Context(), noBackoff) {
			if err != nil {
				t.Fatal(err)
			}
			text, err := readFile(attempt.Base, "x")
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, text)
			if len(read) < 3 {
				gitserver.Seed(t, repo, "main", map[string]string{"x": fmt.Sprint(len(read) + 1)})
			}
			_, err = attempt.Push(t.Context(), edit("ours", folder("large", first)))
			if (err == nil) != (len(read) == 3) || err != nil && !errors.Is(err, gitremote.ErrBranchMoved) {
				t.Errorf("push %d: %v", len(read), err)
			}
		}
		equal(t, "files that the attempts read", read, []string{"1", "2", "3"})
	})
}

// TestAttemptFailed: an error of the body is an [gitbranch.InterruptedError] if the run was stopped.
func TestAttemptFailed(t *testing.T) {
	repo := gitserver.InitBare(t)
	for attempt, err := range open(t, repo, "main").Attempts(t.Context(), noBackoff) {
		if err != nil {
			t.Fatal(err)
		}
		var interrupted *gitbranch.InterruptedError
		err := attempt.Failed(fmt.Errorf("read the record: %w", context.Canceled))
		if !as(err, &interrupted) || interrupted.Open || !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
		if err := attempt.Failed(errRender); !errors.Is(err, errRender) || as(err, &interrupted) {
			t.Errorf("another error: %v", err)
		}
	}
}
