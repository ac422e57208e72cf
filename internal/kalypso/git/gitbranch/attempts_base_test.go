package gitbranch_test

import (
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestPushOnBase: one commit on top of the target replaces our branch, but only if our branch has not moved since
// it was read.
func TestPushOnBase(t *testing.T) {
	for _, backend := range gitserver.Transports() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			url, credentials := backend.Start(t, repo)
			checkUpdateOnBase(t, repo, open(t, url, "main", credentials...), open(t, url, "ours/one", credentials...))
		})
	}
}

func checkUpdateOnBase(t *testing.T, repo string, base, ours *gitbranch.Branch) {
	t.Helper()
	onBase := gitbranch.PushOptions{Base: base}
	_, err := push(t.Context(), ours, onBase, returnEdit(edit("no", folder("large", first))))
	fails(t, err, gitbranch.ErrBranchNotFound)

	target := gitserver.Seed(t, repo, "main", map[string]string{"theirs.txt": "1\n"})
	once := returnEdit(edit("one", folder("large", first)))
	one, err := push(t.Context(), ours, onBase, once)
	if err != nil || !one.Pushed || gitserver.Rev(t, repo, "ours/one") != one.Commit.String() {
		t.Fatalf("%+v, %v", one, err)
	}
	same, err := push(t.Context(), ours, onBase, returnEdit(nil))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "result without an edit", same, gitbranch.PushResult{Commit: one.Commit})
	// The target moved since our branch was pushed, and people push to our branch during the first attempt. So there
	// is a second attempt.
	target = gitserver.Seed(t, repo, "main", map[string]string{"theirs.txt": "2\n"})
	seen := 0
	two, err := push(t.Context(), ours, onBase,
		func(attempt *gitbranch.Attempt) *gitbranch.Edit {
			seen++
			if seen == 1 {
				gitserver.Seed(t, repo, "ours/one", map[string]string{"pushed.txt": "people\n"})
			}
			_, there, err := attempt.Now.Entry("pushed.txt")
			if err != nil || there != (seen == 2) || attempt.Base.Commit.String() != target {
				t.Errorf("attempt %d: our branch contains the file that people pushed: %t, %v", seen, there, err)
			}
			return edit("two\n\nLast-Line: 1\n", folder("large", first))
		})
	if err != nil || seen != 2 {
		t.Fatalf("%d tries, %v", seen, err)
	}
	snapshot, err := ours.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	commit, err := snapshot.CommitInfo()
	equal(t, "message", commit.Message, "two\n\nLast-Line: 1\n")
	equal(t, "parents", commit.Parents, []plumbing.Hash{plumbing.NewHash(target)})
	if err != nil || snapshot.Commit != two.Commit {
		t.Errorf("the head is %s, not %s: %v", snapshot.Commit, two.Commit, err)
	}
	if _, there, err := snapshot.Entry("pushed.txt"); err != nil || there {
		t.Errorf("our branch still contains the file that people pushed: %t, %v", there, err)
	}
	nothing := edit("none")
	nothing.Remove = []string{"never/there"}
	left, err := push(t.Context(), ours, onBase, returnEdit(nothing))
	if err != nil || left.Pushed || gitserver.Rev(t, repo, "ours/one") != two.Commit.String() {
		t.Errorf("an edit that changes nothing: %+v, %v", left, err)
	}

	fails(t, ours.Delete(t.Context(), one.Commit), gitremote.ErrBranchMoved)
	if err := ours.Delete(t.Context(), two.Commit); err != nil || gitserver.Rev(t, repo, "ours/one") != "" {
		t.Errorf("our branch was not deleted: %v", err)
	}
	equal(t, "the target", gitserver.Rev(t, repo, "main"), target)
	gitserver.Fsck(t, repo)
}
