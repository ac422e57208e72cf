package gitbranch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

func visitNothing(string, object.TreeEntry) error { return nil }

// snapshot opens the main branch of a repo on a Git server.
func snapshot(t *testing.T, repo string) *gitbranch.Snapshot {
	t.Helper()
	_, url := gitserver.Serve(t, repo, gitserver.WithFilter())
	s, err := open(t, url, "main").Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestBomb: trees that list each other twice have 2^60 paths. Each call reads each of the few trees once, or ends with
// an error that names the repo, the commit and the folder.
func TestBomb(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"x": "x"})
	gitserver.SetTree(t, repo, "main", "clusters/bomb", gitserver.Bomb(t, repo, 60, "file.yaml", "x"))
	since := plumbing.NewHash(gitserver.Rev(t, repo, "main"))
	gitserver.SetTree(t, repo, "main", "clusters/bomb", gitserver.Bomb(t, repo, 60, "file.yaml", "y"))
	s := snapshot(t, repo)
	named := func(file string) func(object.TreeEntry) bool {
		return func(e object.TreeEntry) bool { return e.Name == file }
	}
	bounded := func(err error) error {
		fault, ok := errors.AsType[*gitbranch.FolderError](err)
		if !ok || fault.Commit != s.Commit || !strings.HasPrefix(fault.Folder, "clusters/bomb") ||
			!strings.Contains(err.Error(), "http://") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	}
	for name, call := range map[string]func() error{
		"Load": func() error { return s.Load("clusters", "clusters/bomb") },
		"Walk": func() error {
			err := s.Walk("clusters", visitNothing)
			if !errors.Is(err, gitbranch.ErrTooManyEntries) {
				return fmt.Errorf("got %w", err)
			}
			return bounded(err)
		},
		"FoldersWith": func() error {
			if folders, err := s.FoldersWith("none"); err != nil || len(folders) > 0 {
				return fmt.Errorf("found %v, %w", folders, err)
			}
			_, err := s.FoldersWith("file.yaml")
			if !errors.Is(err, gitbranch.ErrTooManyFolders) {
				return fmt.Errorf("got %w", err)
			}
			return bounded(err)
		},
		"Find": func() error {
			if paths, err := s.Find("clusters", named("none"), 10); err != nil || len(paths) > 0 {
				return fmt.Errorf("found %v, %w", paths, err)
			}
			at := "clusters/bomb" + strings.Repeat("/a", 59)
			want := []string{at + "/a/file.yaml", at + "/b/file.yaml"}
			if paths, err := s.Find("clusters", named("file.yaml"), 2); err != nil || !slices.Equal(paths, want) {
				return fmt.Errorf("found %v, %w", paths, err)
			}
			return nil
		},
		"Subtree": func() error {
			tree, ok, err := s.Subtree(s.Root)
			if err != nil || !ok {
				return fmt.Errorf("got %w", err)
			}
			return bounded(tree.Walk("clusters/bomb", visitNothing))
		},
		"ChangesSince": func() error {
			changes, found, err := open(t, "file://"+repo, "main").ChangesSince(t.Context(), since, []string{"clusters"})
			if err != nil || !found || len(changes) != 1 || changes[0].Count < 100_000 ||
				len(changes[0].Paths) != gitbranch.MaxHistoryPaths {
				return fmt.Errorf("%d changes, %w", len(changes), err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan error, 1)
			peak := memory.Peak(func() {
				go func() { done <- call() }()
				select {
				case err := <-done:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(60 * time.Second):
					t.Fatal("it does not end")
				}
			})
			if peak > 512<<20 {
				t.Errorf("it took %d MiB", peak>>20)
			}
		})
	}
}

// TestWalkOfSameTrees: a tree at several paths is visited at each.
func TestWalkOfSameTrees(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.SetTree(t, repo, "main", "a", gitserver.Bomb(t, repo, 2, "file", "x"))
	s := snapshot(t, repo)
	var paths []string
	err := s.Walk("a", func(path string, _ object.TreeEntry) error {
		paths = append(paths, path)
		return nil
	})
	if want := []string{"a/a/a/file", "a/a/b/file", "a/b/a/file", "a/b/b/file"}; err != nil || !slices.Equal(paths, want) {
		t.Errorf("%v, %v", paths, err)
	}
}

// TestWalkLimits: the bound of entries is that of the reader, for all walks of a walker together. A long path counts as
// several entries, and one that is too long is an error.
func TestWalkLimits(t *testing.T) {
	repo := gitserver.InitBare(t)
	long := strings.Repeat("x", 250)
	files := map[string]string{"short/a": "", "short/b": "", "long/" + strings.Repeat(long+"/", 10) + "f": ""}
	files["deep/"+strings.Repeat("d/", 2100)+"f"] = ""
	commit := gitserver.Seed(t, repo, "main", files)
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(t *testing.T, entries int, f func(s *gitbranch.Snapshot)) {
		t.Helper()
		r, err := gitbranch.OpenRepo(client, "file://"+repo, gitremote.ReadLimits{Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		r.WithConnection(t.Context(), func() {
			s, err := r.At(plumbing.NewHash(commit), "main")
			if err != nil {
				t.Fatal(err)
			}
			f(s)
		})
	}
	at(t, 3, func(s *gitbranch.Snapshot) {
		w := s.Walker()
		equal(t, "two of three entries", w.Walk("short", visitNothing), nil)
		equal(t, "four of three entries", errors.Is(w.Walk("short", visitNothing), gitbranch.ErrTooManyEntries), true)
		equal(t, "another walker", s.Walk("short", visitNothing), nil)
	})
	at(t, 40, func(s *gitbranch.Snapshot) {
		equal(t, "long paths", errors.Is(s.Walk("long", visitNothing), gitbranch.ErrTooManyEntries), true)
	})
	at(t, 0, func(s *gitbranch.Snapshot) {
		equal(t, "no limit", s.Walk("long", visitNothing), nil)
		equal(t, "deep path", errors.Is(s.Walk("deep", visitNothing), gitbranch.ErrPathTooLong), true)
	})
}

// TestWalkEnds: a walk ends with its context.
func TestWalkEnds(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.SetTree(t, repo, "main", "bomb", gitserver.Bomb(t, repo, 60, "file.yaml", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	s, err := open(t, "file://"+repo, "main").Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	err = s.Walk(".", func(string, object.TreeEntry) error {
		n++
		if n == 1000 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n > 10_000 {
		t.Errorf("%d entries, %v", n, err)
	}
}

// TestRefusedNames: to walk a folder with a name that Git refuses is an error that names the folder. Beside it, the
// branch can be read and written, and keeps the folder byte for byte.
func TestRefusedNames(t *testing.T) {
	for _, name := range []string{"..", ".", ".git", ".GIT", "git~1", ".git::$INDEX_ALLOCATION", "a/../../b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			blob := gitserver.WriteBlob(t, repo, "evil: true")
			file := gitserver.TreeEntry{Mode: "100644", Name: name, Hash: blob}
			bad := gitserver.WriteTree(t, repo, file)
			root := gitserver.WriteTree(t, repo, file,
				gitserver.TreeEntry{Mode: "40000", Name: "bad", Hash: bad},
				gitserver.TreeEntry{Mode: "40000", Name: "evil" + name, Hash: bad})
			gitserver.Git(t, repo, "update-ref", "refs/heads/main",
				strings.TrimSpace(gitserver.Git(t, repo, "commit-tree", "-m", "bad", root)))
			s := snapshot(t, repo)
			for _, folder := range []string{".", "bad"} {
				err := s.Walk(folder, visitNothing)
				if fault, ok := errors.AsType[*gitbranch.FolderError](err); !ok || !errors.Is(err, gitobject.ErrBadTree) ||
					fault.Folder != folder || fault.Commit != s.Commit {
					t.Errorf("%s: %v", folder, err)
				}
			}
			files, err := s.NonFolders(".")
			equal(t, "files at the root", len(files), 0)
			equal(t, "error of the root", err, nil)
			mustPush(t, open(t, "file://"+repo, "main"), gitbranch.PushOptions{},
				&gitbranch.Edit{Files: map[string][]byte{"new": []byte("x")}, Message: "New", Author: author})
			listed := gitserver.Git(t, repo, "ls-tree", "main")
			for _, want := range []string{blob, bad, "evil", "new"} {
				if !strings.Contains(listed, want) {
					t.Errorf("the branch has lost %s:\n%s", want, listed)
				}
			}
		})
	}
}
