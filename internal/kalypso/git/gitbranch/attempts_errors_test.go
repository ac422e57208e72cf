package gitbranch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestPushCancelledInHook: the push ends with its context, even if the server never finishes the push.
func TestPushCancelledInHook(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		started, release := fifo(t, repo, "started"), fifo(t, repo, "release")
		hook := fmt.Sprintf("#!/bin/sh\ncat >/dev/null\necho >'%s'\nread x <'%s'\nexit 1\n", started, release)
		if err := programs.Write(filepath.Join(repo, "hooks", "pre-receive"), hook); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var waiting sync.WaitGroup
		waiting.Go(func() {
			_, _ = os.ReadFile(started) // returns once the hook runs
			cancel()
		})
		_, err := push(ctx, b, noBackoff, returnEdit(edit("ours", folder("large", first))))
		waiting.Wait()
		_ = os.WriteFile(release, []byte("\n"), 0o600) // let the hook end
		fails(t, err, context.Canceled)
		var interrupted *gitbranch.InterruptedError
		remote := !strings.Contains(b.String(), "file://") // a remote server may still accept the push
		if !errors.As(err, &interrupted) || interrupted.Open != remote {
			t.Errorf("the error is %#v", err)
		}
		equal(t, "head", gitserver.Rev(t, repo, "main"), head)
	})
}

// fifo creates a named pipe in a repo, and returns its path.
func fifo(t *testing.T, repo, name string) string {
	t.Helper()
	path := filepath.Join(repo, name)
	if err := os.MkdirAll(filepath.Join(repo, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConcurrentPushesInOneProcess: pushes of one branch run one after another in a process. So each succeeds in its
// only attempt.
func TestConcurrentPushesInOneProcess(t *testing.T) {
	repo := gitserver.InitBare(t)
	opts := gitbranch.PushOptions{CreateBranch: true}.WithMaxAttempts(1)
	want := map[string]string{}
	var all sync.WaitGroup
	for i := range 8 {
		path := fmt.Sprintf("tree-%d", i)
		want[path+"/a"] = path
		url := "file://" + repo
		if i%2 == 1 {
			url = repo
		}
		b := open(t, url, "main")
		all.Go(func() {
			if _, err := push(t.Context(), b, opts,
				returnEdit(edit(path, folder(path, map[string]string{"a": path})))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	equal(t, "tree", gitserver.Tree(t, repo, "main"), want)
	equal(t, "commits", len(gitserver.Log(t, repo, "main")), 8)
}

// TestPushErrors: an invalid edit fails, and nothing is written.
func TestPushErrors(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"file": "1", "dir/x": "1"})
	b := open(t, repo, "main")
	wrong := folder("large", first)
	wrong.Hash = treeHash(map[string]string{"a": "b"})
	with := func(change func(*gitbranch.Edit)) *gitbranch.Edit {
		e := edit("ours")
		change(e)
		return e
	}
	unsorted := gitbranch.FolderContent{
		Path: "large",
		Hash: treeHash(first),
		Files: func(yield func(gitbranch.File, error) bool) {
			_ = yield(gitbranch.File{Path: "b"}, nil) && yield(gitbranch.File{Path: "a"}, nil)
		},
	}
	failing := func(yield func(gitbranch.File, error) bool) {
		yield(gitbranch.File{}, errRender)
	}
	broken := gitbranch.FolderContent{Path: "large", Hash: treeHash(first), Files: failing}
	for name, test := range map[string]struct {
		edit *gitbranch.Edit
		want error
	}{
		"wrong hash":              {edit("ours", wrong), gitbranch.ErrTreeMismatch},
		"file in a file":          {edit("ours", folder("file/large", first)), gitbranch.ErrFileFolderConflict},
		"folder at a file's path": {edit("ours", folder("file", first)), gitbranch.ErrFileFolderConflict},
		"file at a folder's path": {with(func(e *gitbranch.Edit) { e.Files = map[string][]byte{"dir": nil} }),
			gitbranch.ErrFileFolderConflict},
		"folder in a folder":  {edit("ours", folder("a", first), folder("a/b", first)), gitbranch.ErrOverlap},
		"same folder twice":   {edit("ours", folder("a", first), folder("a", first)), gitbranch.ErrOverlap},
		"unsorted files":      {edit("ours", unsorted), nil},
		"files with an error": {edit("ours", broken), errRender},
		"path with ..":        {edit("ours", folder("../a", first)), nil},
		"absolute path":       {edit("ours", folder("/a", first)), nil},
		"path with .git":      {edit("ours", folder("a/.GIT", first)), nil},
		"no message":          {edit(" ", folder("a", first)), nil},
		"invalid author": {with(func(e *gitbranch.Edit) {
			e.Author.Email = "a>b"
			e.Folders = []gitbranch.FolderContent{folder("a", first)}
		}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := push(t.Context(), b, noBackoff, returnEdit(test.edit))
			if test.want != nil {
				fails(t, err, test.want)
			} else if err == nil {
				t.Error("no error")
			}
			equal(t, "head", gitserver.Rev(t, repo, "main"), head)
		})
	}
}

var errRender = fmt.Errorf("does not render")
