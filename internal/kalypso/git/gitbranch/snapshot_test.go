package gitbranch_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// foldersAt returns the folders at a path of a snapshot, and fails the test if they cannot be read.
func foldersAt(t *testing.T, s *gitbranch.Snapshot, path string) map[string]plumbing.Hash {
	t.Helper()
	folders, err := s.Folders(path)
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

// TestSnapshotUnreadable: if an object cannot be fetched, each call that needs it returns an error. It is never treated
// as absent.
func TestSnapshotUnreadable(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		// Without filters, the server sends all objects with the commit, and nothing is left to fetch.
		gitserver.Git(t, repo, "config", "uploadpack.allowFilter", "true")
		gitserver.Seed(t, repo, "main", map[string]string{"clusters/large/a/x.yaml": "1"})
		ctx, hangUp := context.WithCancel(t.Context())
		s, err := b.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		hangUp()
		_, folders := s.Folders("clusters")
		_, others := s.NonFolders("clusters")
		_, _, entry := s.Entry("clusters/large")
		_, file := readFile(s, "clusters/large/a/x.yaml")
		for name, err := range map[string]error{
			"Folders": folders, "Others": others, "Entry": entry, "ReadFiles": file, "Load": s.Load("clusters/large"),
			"Walk": s.Walk("clusters", func(string, object.TreeEntry) error { return nil }),
		} {
			if err == nil {
				t.Errorf("%s of a tree that could not be fetched returns no error", name)
			}
		}
	})
}

func TestSnapshot(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		empty, err := b.Snapshot(t.Context())
		if err != nil || !empty.Commit.IsZero() || len(foldersAt(t, empty, ".")) != 0 {
			t.Fatalf("empty repository: %v, %v", empty, err)
		}
		gitserver.Seed(t, repo, "main", map[string]string{"gone": "1", "clusters/large/a/x.yaml": "old"})
		gitserver.SeedFiles(t, repo, "main", "two", map[string]gitserver.File{
			"gone":                    {},
			"run.sh":                  {Mode: "100755", Content: "run\n"},
			"clusters/link":           {Mode: "120000", Content: "../run.sh"},
			"clusters/large/a/x.yaml": {Mode: "100644", Content: "x: 1\n"},
			"clusters/large/a-b":      {Mode: "100644", Content: "b\n"},
			"clusters/small/y.yaml":   {Mode: "100644", Content: "y: 1\n"},
		})
		s, err := b.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "commit", s.Commit.String(), gitserver.Rev(t, repo, "main"))
		equal(t, "folders", slices.Sorted(maps.Keys(foldersAt(t, s, "clusters"))), []string{"large", "small"})
		equal(t, "root folders", slices.Sorted(maps.Keys(foldersAt(t, s, "."))), []string{"clusters"})
		equal(t, "hash", foldersAt(t, s, "clusters")["large"],
			treeHash(map[string]string{"a/x.yaml": "x: 1\n", "a-b": "b\n"}))
		var paths []string
		err = s.Walk("clusters", func(p string, e object.TreeEntry) error {
			paths = append(paths, p+" "+e.Mode.String())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "walk", paths, []string{
			"clusters/large/a-b 0100644", "clusters/large/a/x.yaml 0100644", "clusters/link 0120000",
			"clusters/small/y.yaml 0100644",
		})
		run, ok, err := s.Entry("run.sh")
		equal(t, "entry", err == nil && ok && run.Mode == filemode.Executable, true)
		_, ok, err = s.Entry("clusters/none/x")
		equal(t, "no entry", err == nil && !ok, true)

		files, err := s.ReadFiles([]string{"run.sh", "clusters/large/a/x.yaml", "gone", "clusters"})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "files", files, map[string][]byte{"run.sh": []byte("run\n"), "clusters/large/a/x.yaml": []byte("x: 1\n")})
		one, err := readFile(s, "clusters/small/y.yaml")
		equal(t, "file", one, "y: 1\n")
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestSnapshotBytes: a file's content is not fetched if the server supports filters, and not sent if the branch already
// contains it.
func TestSnapshotBytes(t *testing.T) {
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(i * i >> 3 * i)
	}
	for _, v0 := range []bool{false, true} {
		repo := gitserver.InitBare(t)
		content := string(noise)
		gitserver.Seed(t, repo, "main", map[string]string{"large/big": content, "x": "1"})
		options := []gitserver.Option{gitserver.WithFilter()}
		if v0 {
			options = append(options, gitserver.WithProtocolV0())
		}
		server, url := gitserver.Serve(t, repo, options...)
		mustPush(t, open(t, url, "main"), noBackoff,
			edit("ours", folder("large", map[string]string{"big": content, "small": "s"}),
				folder("copy", map[string]string{"big": content})))
		var read, sent int64
		for _, r := range server.Requests() {
			read += r.Sent
			sent += max(r.Got, 0)
		}
		if read > 4<<10 || sent > 4<<10 {
			t.Errorf("v0 %v: read %d bytes and sent %d for a change of one small file", v0, read, sent)
		}
	}
}

// TestHistory lists the changes that people made in our folders since our commit.
func TestHistory(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "main", map[string]string{"large/a.yaml": "1", "small/b.yaml": "1"})
		since := mustPush(t, b, noBackoff, edit("ours", folder("large", first), folder("tiny", first))).Commit
		gitserver.SeedFiles(t, repo, "main", "hotfix\n\nat night", map[string]gitserver.File{
			"large/app.txt": {Mode: "100644", Content: "fixed"}, "large/new/x": {Mode: "100755", Content: "x"},
			"tiny/app.txt": {},
		})
		gitserver.Seed(t, repo, "main", map[string]string{"small/b.yaml": "2"})
		changes, found, err := b.ChangesSince(t.Context(), since, []string{"large", "tiny"})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "found", found, true)
		equal(t, "changes", len(changes), 1)
		c := changes[0]
		equal(t, "author", c.Commit.Author.Name+" "+c.Commit.Author.Email, "Somebody somebody@acme.io")
		equal(t, "subject", c.Commit.Subject, "hotfix")
		equal(t, "paths", c.Paths, []string{"large/app.txt", "large/new/x", "tiny/app.txt"})
		equal(t, "count", c.Count, 3)

		none, found, err := b.ChangesSince(t.Context(), plumbing.NewHash("1111111111111111111111111111111111111111"),
			[]string{"small"})
		equal(t, "commits that touched small", len(none), 2)
		equal(t, "an unknown commit was found", found || err != nil, false)
	})
}

// TestHistoryBound: only the last MaxHistory commits are read.
func TestHistoryBound(t *testing.T) {
	repo := gitserver.InitBare(t)
	old := gitserver.Seed(t, repo, "main", map[string]string{"large/n": "0"})
	for i := range 60 {
		gitserver.Seed(t, repo, "main", map[string]string{"large/n": string(rune('a' + i))})
	}
	changes, found, err := open(t, repo, "main").ChangesSince(t.Context(), plumbing.NewHash(old), []string{"large"})
	if err != nil || found {
		t.Fatalf("found %v, %v", found, err)
	}
	equal(t, "changes", len(changes), gitbranch.MaxHistory)
}

// TestHistoryReads: if no folders are asked for, only commits are fetched, and no trees.
func TestHistoryReads(t *testing.T) {
	repo := gitserver.InitBare(t)
	since := gitserver.Seed(t, repo, "main", map[string]string{"n": "0"})
	server, url := gitserver.Serve(t, repo, gitserver.WithFilter())
	var requests []int
	for _, commits := range []string{"1", "23456"} {
		for _, n := range commits {
			gitserver.Seed(t, repo, "main", map[string]string{"n": string(n)})
		}
		before := len(server.Requests())
		changes, found, err := open(t, url, "main").ChangesSince(t.Context(), plumbing.NewHash(since), nil)
		if err != nil || !found || len(changes) != 0 {
			t.Fatalf("found %v, changes %v, %v", found, changes, err)
		}
		requests = append(requests, len(server.Requests())-before)
	}
	equal(t, "requests for 6 commits", requests[1], requests[0])
}
