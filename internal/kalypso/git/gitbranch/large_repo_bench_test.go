package gitbranch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The size of BenchmarkLargeRepo's repo: 200,000 files in 400 folders, and 20,000 commits of one file each.
const (
	largeFolders = 400
	largeFiles   = 500 // in a folder
	largeCommits = 20_000
)

func largeRepo(b *testing.B) string {
	b.Helper()
	repo := gitserver.InitBare(b)
	var s strings.Builder
	commit := func(n int) {
		fmt.Fprintf(&s, "commit refs/heads/main\ncommitter Somebody <somebody@acme.io> %d +0000\ndata 1\nx\n",
			1_600_000_000+n)
	}
	file := func(folder, n int, mark string) {
		text := string(benchContent(folder, n, "file", mark))[:400]
		fmt.Fprintf(&s, "M 100644 inline folder-%03d/file-%03d.yaml\ndata %d\n%s\n", folder, n, len(text), text)
	}
	commit(0)
	for folder := range largeFolders {
		for n := range largeFiles {
			file(folder, n, "")
		}
	}
	for n := 1; n < largeCommits; n++ {
		commit(n)
		file(n%largeFolders, n%largeFiles, fmt.Sprint(n))
	}
	gitserver.FastImport(b, repo, s.String())
	gitserver.Git(b, repo, "repack", "-adq")
	return repo
}

// BenchmarkLargeRepo measures the operations of a plan and an apply on a large repo, for servers with different
// capabilities: requests, bytes from the server, processor time and memory of the client. It takes minutes:
//
//	go test -run '^$' -bench LargeRepo -benchtime 1x ./internal/kalypso/git/gitbranch
func BenchmarkLargeRepo(b *testing.B) {
	repo := largeRepo(b)
	commit := func(back int) plumbing.Hash {
		return plumbing.NewHash(strings.TrimSpace(gitserver.Git(b, repo, "rev-parse", fmt.Sprintf("main~%d", back))))
	}
	check := func(b *testing.B, err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	changes := 0
	for _, operation := range []struct {
		name string
		run  func(b *testing.B, branch *gitbranch.Branch)
	}{
		{"read", func(b *testing.B, branch *gitbranch.Branch) { // reads a folder and a file, as a refresh does
			s, err := branch.Snapshot(b.Context())
			check(b, err)
			defer s.Close()
			check(b, s.Load("folder-007"))
			_, err = readFile(s, "folder-007/file-007.yaml")
			check(b, err)
		}},
		{"update", func(b *testing.B, branch *gitbranch.Branch) { // changes a file, as an apply does
			changes++
			_, err := push(b.Context(), branch, gitbranch.PushOptions{}, returnEdit(&gitbranch.Edit{
				Files:   map[string][]byte{"folder-007/file-007.yaml": []byte(fmt.Sprint(changes))},
				Message: "Change", Author: author,
			}))
			check(b, err)
		}},
		{"history", func(b *testing.B, branch *gitbranch.Branch) { // lists changes, as the drift check does
			_, found, err := branch.ChangesSince(b.Context(), commit(20), []string{"folder-007"})
			check(b, err)
			if !found {
				b.Fatal("the commit is not found")
			}
		}},
		{"folders of 64 commits", func(b *testing.B, branch *gitbranch.Branch) { // as a deployment's verdict does
			s, err := branch.Snapshot(b.Context())
			check(b, err)
			defer s.Close()
			all, err := s.History().Ancestry(64)
			check(b, err)
			var hashes []plumbing.Hash
			for _, c := range all.Commits {
				hashes = append(hashes, c.Hash)
			}
			_, err = s.History().FoldersAt(".", hashes)
			check(b, err)
		}},
	} {
		for _, server := range []struct {
			name    string
			options []gitserver.Option
		}{
			{"v2 with filters", []gitserver.Option{gitserver.WithFilter()}},
			{"Azure Repos", []gitserver.Option{gitserver.Azure()}},
			{"v0 without filters", []gitserver.Option{gitserver.WithProtocolV0()}},
		} {
			b.Run(operation.name+"/"+server.name, func(b *testing.B) {
				s, url := gitserver.Serve(b, repo, server.options...)
				memory.Measure(b, func() {
					for b.Loop() {
						operation.run(b, open(b, url, "main"))
					}
				})
				report(b, s)
			})
		}
	}
	// For comparison: a server without filters sends this many bytes for one commit, whatever the client.
	b.Run("read/git fetch --depth 1", func(b *testing.B) {
		s, url := gitserver.Serve(b, repo, gitserver.WithProtocolV0())
		for b.Loop() {
			gitserver.Git(b, gitserver.InitBare(b), "-c", "protocol.version=0", "fetch", "-q", "--depth=1", url, "main")
		}
		report(b, s)
	})
}

// report reports the requests of an operation, and the bytes of their answers.
func report(b *testing.B, s *gitserver.Server) {
	b.Helper()
	sent := int64(0)
	for _, r := range s.Requests() {
		sent += r.Sent
	}
	b.ReportMetric(float64(len(s.Requests()))/float64(b.N), "requests")
	b.ReportMetric(float64(sent)/float64(b.N)/1e6, "MB")
}
