package gitbranch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAncestry reads a history with a merge, and the folders and files of each of its commits.
func TestAncestry(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		var commits []string
		for i := range 4 {
			commits = append(commits, gitserver.Seed(t, repo, "main", map[string]string{
				"clusters/large/x.yaml": fmt.Sprint(i / 2), fmt.Sprintf("clusters/new%d/x.yaml", i): "x", "other": fmt.Sprint(i),
			}))
		}
		side := strings.TrimSpace(gitserver.Git(t, repo, "commit-tree", "-p", commits[1], "-m", "side", commits[1]+"^{tree}"))
		merge := strings.TrimSpace(gitserver.Git(t, repo, "commit-tree", "-p", commits[3], "-p", side, "-m", "merge",
			commits[3]+"^{tree}"))
		gitserver.Git(t, repo, "update-ref", "refs/heads/main", merge)

		s, err := b.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ancestors, err := s.History().Ancestry(100)
		if err != nil {
			t.Fatal(err)
		}
		all := ancestors.Commits
		equal(t, "commits", len(all), 6)
		equal(t, "parents of the head", fmt.Sprint(all[0].Parents), fmt.Sprintf("[%s %s]", commits[3], side))
		equal(t, "time", all[0].When.Unix(), int64(1700000000))
		equal(t, "subject", all[0].Subject, "merge")
		equal(t, "author", all[0].Author.Name, "Somebody")
		var hashes []plumbing.Hash
		for _, c := range all {
			hashes = append(hashes, c.Hash)
		}
		folders, err := s.History().FoldersAt("clusters", hashes)
		if err != nil {
			t.Fatal(err)
		}
		large := func(commit string) string { return folders[plumbing.NewHash(commit)]["large"].String() }
		equal(t, "the folder of the first commit", large(commits[0]), treeHash(map[string]string{"x.yaml": "0"}).String())
		equal(t, "the same folder in the second commit", large(commits[1]), large(commits[0]))
		equal(t, "the same folder in the merged commit", large(side), large(commits[0]))
		equal(t, "the folder at the head", large(merge), treeHash(map[string]string{"x.yaml": "1"}).String())
		equal(t, "folders of the second commit", len(folders[plumbing.NewHash(commits[1])]), 3)
		changes, err := s.History().LastChanges(s.Commit, "clusters", []string{"large", "new0", "new3"})
		if err != nil {
			t.Fatal(err)
		}
		for name, commit := range map[string]string{"large": commits[2], "new0": commits[0], "new3": commits[3]} {
			equal(t, "the last change of "+name, changes[name].Hash.String(), commit)
		}
		for name, want := range map[string]map[string]bool{
			"large": {commits[2]: true, commits[0]: false, commits[1]: false, commits[3]: false, side: false, merge: false},
			"new0":  {commits[0]: true, commits[1]: false, strings.Repeat("a", 40): false},
			"none":  {commits[0]: false, commits[3]: false},
		} {
			for commit, want := range want {
				earlier, err := s.History().EarlierChanges(s.Commit, "clusters",
					map[string]plumbing.Hash{name: plumbing.NewHash(commit), "new3": plumbing.NewHash(commits[3])})
				got, found := earlier[name]
				if err != nil || found != want || found && got.Hash.String() != commit ||
					earlier["new3"].Hash.String() != commits[3] {
					t.Errorf("%s changed by %s: %v, %v", name, commit, earlier, err)
				}
			}
		}
		for commit, want := range map[string]bool{side: true, commits[0]: true, strings.Repeat("a", 40): false} {
			found, ok, err := s.History().Find(plumbing.NewHash(commit))
			if err != nil || ok != want || ok && found.Hash.String() != commit {
				t.Errorf("the history contains %s: %t, %v", commit, ok, err)
			}
		}
		earlier, err := s.History().At(plumbing.NewHash(commits[1]))
		if err != nil {
			t.Fatal(err)
		}
		text, err := readFile(earlier, "other")
		equal(t, "a file of an earlier commit", fmt.Sprint(text, err), "1<nil>")
		nowhere, err := s.History().FoldersAt("other", hashes)
		if err != nil || len(nowhere) != 0 {
			t.Errorf("folders in a file: %v, %v", nowhere, err)
		}
		for file, want := range map[string]string{
			"clusters/large/x.yaml": "0 0 1 1 0 1", "other": "0 1 2 3 1 3", "clusters/new2/x.yaml": "- - x x - x",
			"nope": "- - - - - -", "clusters": "- - - - - -",
		} {
			files, err := s.History().FileAt(file, hashes)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, commit := range append(commits, side, merge) {
				text, ok := files[plumbing.NewHash(commit)]
				if !ok {
					text = []byte("-")
				}
				got = append(got, string(text))
			}
			equal(t, file, strings.Join(got, " "), want)
		}
	})
}

// TestAncestryDepth: commits beyond the depth appear only as parents.
func TestAncestryDepth(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		for i := range 5 {
			gitserver.Seed(t, repo, "main", map[string]string{"x": fmt.Sprint(i)})
		}
		s, err := b.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ancestors, err := s.History().Ancestry(3)
		if err != nil {
			t.Fatal(err)
		}
		all := ancestors.Commits
		equal(t, "commits", len(all), 3)
		equal(t, "parents of the last", len(all[2].Parents), 1)
	})
}

// TestHistoryAtVersion0 reads folders and files of old commits from servers with protocol version 0. Servers that
// cannot send an object by its hash send the history instead.
func TestHistoryAtVersion0(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Git(t, repo, "config", "uploadpack.allowFilter", "true")
	for i := range 3 {
		gitserver.Seed(t, repo, "main", map[string]string{"clusters/large/x.yaml": fmt.Sprint(i)})
	}
	for _, backend := range gitserver.Backends() {
		if !strings.Contains(backend.Name, "v0") && !strings.Contains(backend.Name, "azure") {
			continue
		}
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			url, credentials := backend.Start(t, repo)
			s, err := open(t, url, "main", credentials...).Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			all, err := s.History().Ancestry(100)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "the history is complete", all.Whole, true)
			hashes := gitbranch.Hashes(all.FirstParents)
			folders, err := s.History().FoldersAt("clusters", hashes)
			if err != nil {
				t.Fatal(err)
			}
			files, err := s.History().FileAt("clusters/large/x.yaml", hashes)
			if err != nil {
				t.Fatal(err)
			}
			for i, commit := range hashes {
				text := fmt.Sprint(2 - i)
				equal(t, "folder", folders[commit]["large"], treeHash(map[string]string{"x.yaml": text}))
				equal(t, "file", string(files[commit]), text)
			}
		})
	}
}

// TestLastChangeIsOld: the last change of a folder is found even if it is 67 commits back, or the first commit.
func TestLastChangeIsOld(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	var script strings.Builder
	for i := range 70 {
		fmt.Fprintf(&script, "commit refs/heads/main\ncommitter A <a@acme.io> %d +0000\ndata 1\nx\n", 1700000000+i)
		if i == 0 {
			script.WriteString("M 100644 inline clusters/small/x.yaml\ndata 1\n0\n")
		}
		if i < 3 {
			fmt.Fprintf(&script, "M 100644 inline clusters/large/x.yaml\ndata 1\n%d\n", i)
		}
		fmt.Fprintf(&script, "M 100644 inline other\ndata 2\n%02d\n", i)
	}
	gitserver.FastImport(t, repo, script.String())
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gitbranch.ReadHead(t.Context(), client, repo, "main")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	changes, err := s.History().LastChanges(s.Commit, "clusters", []string{"large", "small"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "large", changes["large"].When.Unix(), int64(1700000002))
	equal(t, "small", changes["small"].When.Unix(), int64(1700000000))
	found, ok, err := s.History().Find(changes["small"].Hash)
	equal(t, "the first commit", fmt.Sprint(len(found.Parents), ok, err), "0 true <nil>")
}
