package gitbranch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

func newClient(t *testing.T, credentials ...gitremote.Credential) *gitremote.Client {
	t.Helper()
	client, err := gitremote.NewClient(credentials)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestEachBranch: globs select branches as git branch --list does. Each branch is visited once, in order. A glob that
// matches no branch is reported after the branches. If visit returns false, no more branches are visited.
func TestEachBranch(t *testing.T) {
	repo := gitserver.InitBare(t)
	branches := []string{"dev", "env/prod", "env/west", "main", "stage"}
	for _, branch := range slices.Backward(branches) {
		gitserver.Seed(t, repo, branch, map[string]string{"name": branch})
	}
	for _, backend := range gitserver.Transports() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			url, credentials := backend.Start(t, repo)
			client := newClient(t, credentials...)
			for globs, want := range map[string]string{
				"*":              "dev env/prod env/west main stage",
				"env/*":          "env/prod env/west",
				"*t":             "env/west",
				"dev,d?v,[a-d]*": "dev",
				"main,prod,x*":   "main prod:none x*:none",
				"env/prod":       "env/prod",
				"":               "",
			} {
				var got []string
				list := slices.DeleteFunc(strings.Split(globs, ","), func(g string) bool { return g == "" })
				err := gitbranch.EachBranch(t.Context(), client, url, list,
					func(name string, s *gitbranch.Snapshot, err error) bool {
						if errors.Is(err, gitbranch.ErrBranchNotFound) {
							got = append(got, name+":none")
							return true
						}
						if text, err := readFile(s, "name"); err != nil || text != name {
							t.Errorf("%s has %q, %v", name, text, err)
						}
						got = append(got, name)
						return true
					})
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
					t.Errorf("%q (-want +got):\n%s", globs, diff)
				}
			}
			visited := 0
			all := []string{"*"}
			err := gitbranch.EachBranch(t.Context(), client, url, all, func(string, *gitbranch.Snapshot, error) bool {
				visited++
				return visited < 2
			})
			if err != nil || visited != 2 {
				t.Errorf("%d visits, %v", visited, err)
			}
		})
	}
}

// TestEachBranchCancelled: if the context ends, the walk returns one error, not one for each remaining branch.
func TestEachBranchCancelled(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	for _, branch := range []string{"a", "b", "c"} {
		gitserver.Seed(t, repo, branch, map[string]string{"name": branch})
	}
	ctx, cancel := context.WithCancel(t.Context())
	visited := 0
	err := gitbranch.EachBranch(ctx, newClient(t), "file://"+repo, []string{"*"},
		func(string, *gitbranch.Snapshot, error) bool {
			visited++
			cancel()
			return true
		})
	if !errors.Is(err, context.Canceled) || visited != 1 {
		t.Errorf("%d visits, %v", visited, err)
	}
}

// TestEachBranchUnreadable: if the repo cannot be read, EachBranch returns the error and visits no branch.
func TestEachBranchUnreadable(t *testing.T) {
	t.Parallel()
	err := gitbranch.EachBranch(t.Context(), newClient(t), "file://"+t.TempDir()+"/none.git", []string{"*"},
		func(string, *gitbranch.Snapshot, error) bool {
			t.Error("a branch is visited")
			return true
		})
	if !errors.Is(err, gitremote.ErrRepoNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestCheckGlob(t *testing.T) {
	t.Parallel()
	for glob, valid := range map[string]bool{
		"main": true, "*": true, "env/*": true, "[ab]*": true, "": false, "[": false, "a[b": false, `a\`: false,
	} {
		if err := gitbranch.CheckGlob(glob); (err == nil) != valid {
			t.Errorf("%q: %v", glob, err)
		}
	}
}

// TestFoldersWith finds the topmost folders with a file, in one fetch for each level of the tree.
func TestFoldersWith(t *testing.T) {
	const file = ".kalypso/rendering.json"
	for name, tt := range map[string]struct {
		files   []string
		want    []string
		fetches int
	}{
		"file in root": {[]string{file, "large/web/a.yaml", "a/" + file}, []string{"."}, 1},
		"nested folders": {[]string{"b/c/" + file, "b/c/d/" + file, "a/" + file, "a/b/" + file},
			[]string{"a", "b/c"}, 4},
		"no such file":           {[]string{"a/b/c/d.yaml", "e/f.yaml"}, nil, 3},
		"folder instead of file": {[]string{"a/.kalypso", "b/" + file + "/x", ".kalypso/other.json"}, nil, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			files := map[string]string{}
			for _, path := range tt.files {
				files[path] = path
			}
			gitserver.Seed(t, repo, "main", files)
			server, url := gitserver.Serve(t, repo, gitserver.WithFilter())
			s, err := open(t, url, "main").Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			server.ResetLog()
			got, err := s.FoldersWith(file)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if n := server.Reads(); n != tt.fetches {
				t.Errorf("%d fetches, want %d", n, tt.fetches)
			}
		})
	}
}

// TestFoldersWithBomb: a few trees, each listed ten times in the next, unfold to 10^8 folders. The search looks into
// each tree once. If all folders contain the file, it ends with an error instead of listing them all.
func TestFoldersWithBomb(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"x": "x"})
	tree := strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", "main^{tree}"))
	for range 8 {
		var text strings.Builder
		for i := range 10 {
			text.WriteString("040000 tree " + tree + "\t" + string(rune('a'+i)) + "\n")
		}
		tree = gitserver.MkTree(t, repo, text.String())
	}
	commit := strings.TrimSpace(gitserver.Git(t, repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m",
		"bomb", tree))
	gitserver.Git(t, repo, "update-ref", "refs/heads/main", commit)
	s, err := open(t, "file://"+repo, "main").Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if found, err := s.FoldersWith("none"); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := s.FoldersWith("x"); !errors.Is(err, gitbranch.ErrTooManyFolders) {
		t.Errorf("got %v", err)
	}
}

// TestFoldersWithWideBomb: each of 10^6 folders has 20,000 folders without the file, and one with it. The search skips
// these where it has looked into their tree once, and not again at each path.
func TestFoldersWithWideBomb(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"with/x": "x", "without/y": "y"})
	with := strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", "main:with"))
	without := strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", "main:without"))
	var text strings.Builder
	text.WriteString("040000 tree " + with + "\ta\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "040000 tree %s\tb%05d\n", without, i)
	}
	tree := gitserver.MkTree(t, repo, text.String())
	for range 6 {
		text.Reset()
		for i := range 10 {
			fmt.Fprintf(&text, "040000 tree %s\t%c\n", tree, 'a'+i)
		}
		tree = gitserver.MkTree(t, repo, text.String())
	}
	gitserver.SetTree(t, repo, "main", "clusters", tree)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // two seconds are usual
	defer cancel()
	s, err := open(t, "file://"+repo, "main").Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.FoldersWith("x"); !errors.Is(err, gitbranch.ErrTooManyFolders) {
		t.Errorf("got %v", err)
	}
}
