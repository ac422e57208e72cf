package gitbranch_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

var first = map[string]string{
	"app/config.yaml": "a: 1\n", "app/x.yaml": "x\n", "app-2/config.yaml": "a: 2\n", "app.txt": "t\n",
	"README.md": "# r\n",
}

// TestUpdateCreatesChangesAndRemovesFolder creates a folder, changes it, changes nothing, and removes it.
func TestUpdateCreatesChangesAndRemovesFolder(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		_, err := b.Update(t.Context(), gitbranch.UpdateOptions{}, returnEdit(edit("no", folder("large", first))))
		fails(t, err, gitbranch.ErrBranchNotFound)

		made := update(t, b, gitbranch.UpdateOptions{CreateBranch: true}, edit("one", folder("large", first)))
		equal(t, "pushed", made.Pushed, true)
		equal(t, "head", gitserver.Rev(t, repo, "main"), made.Commit.String())

		again := update(t, b, gitbranch.UpdateOptions{}, edit("two", folder("large", first)))
		equal(t, "unchanged", again, gitbranch.UpdateResult{Commit: made.Commit})
		nothing := update(t, b, gitbranch.UpdateOptions{}, nil)
		equal(t, "no edit", nothing, gitbranch.UpdateResult{Commit: made.Commit})

		e := edit("three", folder("large", map[string]string{"app/config.yaml": "a: 3\n"}), folder("deep/er", first))
		e.Files = map[string][]byte{"Promoted_Commit_Id": []byte("abc"), ".kalypso/rendering.json": []byte("{}\n")}
		update(t, b, gitbranch.UpdateOptions{}, e)
		want := map[string]string{
			"large/app/config.yaml": "a: 3\n", "Promoted_Commit_Id": "abc", ".kalypso/rendering.json": "{}\n",
		}
		for p, c := range first {
			want["deep/er/"+p] = c
		}
		equal(t, "tree", gitserver.Tree(t, repo, "main"), want)

		gone := edit("four")
		gone.Remove = []string{"deep/er", "large", ".kalypso/rendering.json", "never/there"}
		update(t, b, gitbranch.UpdateOptions{}, gone)
		equal(t, "tree after the removal", gitserver.Tree(t, repo, "main"), map[string]string{"Promoted_Commit_Id": "abc"})
		equal(t, "log", gitserver.Log(t, repo, "main"), []string{"four", "three", "one"})
		gitserver.Fsck(t, repo)
	})
}

// TestUpdateKeepsForeignFiles: links, executables, submodules and files next to ours keep their bytes and modes.
func TestUpdateKeepsForeignFiles(t *testing.T) {
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
		update(t, b, gitbranch.UpdateOptions{}, edit("ours", folder("large", first), folder("zone/small", first)))
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

// TestUpdateCreatesSecondBranch: a new branch starts with our commit only, although the repo has another branch.
func TestUpdateCreatesSecondBranch(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "other", map[string]string{"x": "y"})
		update(t, b, gitbranch.UpdateOptions{CreateBranch: true}, edit("one", folder("large", first)))
		equal(t, "log", gitserver.Log(t, repo, "main"), []string{"one"})
		equal(t, "other", gitserver.Tree(t, repo, "other"), map[string]string{"x": "y"})
		gitserver.Fsck(t, repo)
	})
}

// TestUpdateRace: another push happens between our read and our push.
func TestUpdateRace(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		tries := 0
		race := func(_ context.Context, _, _ *gitbranch.Snapshot) (*gitbranch.Edit, error) {
			if tries++; tries <= 2 {
				gitserver.Seed(t, repo, "main", map[string]string{"theirs": string(rune('0' + tries))})
			}
			return edit("ours", folder("large", map[string]string{"a": "b"})), nil
		}
		r, err := b.Update(t.Context(), noBackoff, race)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "tries", tries, 3)
		equal(t, "head", gitserver.Rev(t, repo, "main"), r.Commit.String())
		equal(t, "tree", gitserver.Tree(t, repo, "main"), map[string]string{"x": "1", "theirs": "2", "large/a": "b"})
		equal(t, "log", gitserver.Log(t, repo, "main"), []string{"ours", "Seed", "Seed", "Seed"})
	})
}

var noBackoff = gitbranch.UpdateOptions{Backoff: func(ctx context.Context, _ int) error { return ctx.Err() }}

// TestUpdateRaceAtServer: the branch moves after the server listed it, so that the server rejects the push.
func TestUpdateRaceAtServer(t *testing.T) {
	for _, create := range []bool{false, true} {
		repo := gitserver.InitBare(t)
		server, url := gitserver.Serve(t, repo)
		if !create {
			gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		}
		server.BeforeReceive(func() { gitserver.Seed(t, repo, "main", map[string]string{"theirs": "2"}) })
		opts := noBackoff
		opts.CreateBranch = true
		update(t, open(t, url, "main"), opts, edit("ours", folder("large", map[string]string{"a": "b"})))
		equal(t, "newest", gitserver.Log(t, repo, "main")[:2], []string{"ours", "Seed"})
	}
}

// TestUpdateStopsAfterAttempts: the number of attempts is limited.
func TestUpdateStopsAfterAttempts(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
	opts := noBackoff
	opts.Attempts = 3
	n := 0
	_, err := open(t, repo, "main").Update(t.Context(), opts,
		func(_ context.Context, _, _ *gitbranch.Snapshot) (*gitbranch.Edit, error) {
			n++
			gitserver.Seed(t, repo, "main", map[string]string{"theirs": string(rune('0' + n))})
			return edit("ours", folder("large", map[string]string{"a": "b"})), nil
		})
	fails(t, err, gitremote.ErrBranchMoved)
	equal(t, "tries", n, 3)
}

// TestUpdateBrokenAnswer: the server accepts the push, and the connection breaks before the answer. The update
// succeeds.
func TestUpdateBrokenAnswer(t *testing.T) {
	repo := gitserver.InitBare(t)
	server, url := gitserver.Serve(t, repo)
	server.DropAnswer()
	r := update(t, open(t, url, "main"), gitbranch.UpdateOptions{CreateBranch: true}, edit("ours", folder("large", first)))
	equal(t, "result", r, gitbranch.UpdateResult{Commit: plumbing.NewHash(gitserver.Rev(t, repo, "main")), Pushed: true})
	equal(t, "log", gitserver.Log(t, repo, "main"), []string{"ours"})
}

// TestUpdateRejected: a hook rejects the push with its own message.
func TestUpdateRejected(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		gitserver.Hook(t, repo, "pre-receive", "main is protected: cannot lock ref\nask the fleet team", 1)
		_, err := b.Update(t.Context(), noBackoff, returnEdit(edit("ours", folder("large", first))))
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

// TestUpdateBranchNameConflict: beside a branch rel/one, Git allows no branch rel and no branch rel/one/more.
func TestUpdateBranchNameConflict(t *testing.T) {
	for _, backend := range gitserver.Transports() {
		repo := gitserver.InitBare(t)
		gitserver.Seed(t, repo, "rel/one", map[string]string{"x": "1"})
		url, credentials := backend.Start(t, repo)
		for _, name := range []string{"rel", "rel/one/more"} {
			_, err := open(t, url, name, credentials...).Update(t.Context(), gitbranch.UpdateOptions{CreateBranch: true},
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

// TestUpdateCancelled: if the context ends, the update and Head return its error, and nothing is pushed.
func TestUpdateCancelled(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := b.Update(ctx, noBackoff, func(_ context.Context, _, _ *gitbranch.Snapshot) (*gitbranch.Edit, error) {
			cancel()
			return edit("ours", folder("large", first)), nil
		})
		fails(t, err, context.Canceled)
		_, err = b.Head(ctx)
		fails(t, err, context.Canceled)
		equal(t, "head", gitserver.Rev(t, repo, "main"), head)
	})
}

func TestUpdateMissingRepo(t *testing.T) {
	for _, backend := range gitserver.Transports() {
		url, credentials := backend.Start(t, filepath.Join(t.TempDir(), "none.git"))
		_, err := open(t, url, "main", credentials...).Update(t.Context(), noBackoff, returnEdit(nil))
		fails(t, err, gitremote.ErrRepoNotFound)
	}
}
