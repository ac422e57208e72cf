package gitbranch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAtVersion0 opens an older commit on servers with protocol version 0. Servers that cannot send a commit by its
// hash send the branch instead.
func TestAtVersion0(t *testing.T) {
	repo := gitserver.InitBare(t)
	old := plumbing.NewHash(gitserver.Seed(t, repo, "main", map[string]string{"folder/a": "old\n"}))
	for range 3 {
		gitserver.Seed(t, repo, "main", map[string]string{"folder/a": "new\n", "b": strings.Repeat("b", 1000)})
	}
	ran := 0
	for _, backend := range gitserver.Backends() {
		if !strings.Contains(backend.Name, "v0") && !strings.Contains(backend.Name, "azure") {
			continue
		}
		ran++
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			url, credentials := backend.Start(t, repo)
			client, err := gitremote.NewClient(credentials)
			if err != nil {
				t.Fatal(err)
			}
			r, err := gitbranch.OpenRepo(client, url, gitremote.ReadLimits{})
			if err != nil {
				t.Fatal(err)
			}
			r.WithConnection(t.Context(), func() {
				s, err := r.At(old, "main")
				if err != nil {
					t.Fatal(err)
				}
				if text, err := readFile(s, "folder/a"); err != nil || text != "old\n" {
					t.Errorf("got %q, %v", text, err)
				}
				_, err = r.At(plumbing.NewHash(strings.Repeat("7", 40)), "main")
				if !errors.Is(err, gitbranch.ErrCommitNotFound) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
	if ran < 5 {
		t.Errorf("only %d servers speak version 0", ran)
	}
}

// TestHistoryWithoutFilters: a server without filters sends all objects of each commit, so the history is read in a
// single request.
func TestHistoryWithoutFilters(t *testing.T) {
	repo := gitserver.InitBare(t)
	since := gitserver.Seed(t, repo, "main", map[string]string{"a": "0"})
	for i := range 20 {
		gitserver.Seed(t, repo, "main", map[string]string{"a": strings.Repeat("x", i+1)})
	}
	server, url := gitserver.Serve(t, repo, gitserver.WithProtocolV0())
	for commit, want := range map[string]bool{since: true, strings.Repeat("7", 40): false} {
		server.ResetLog()
		changes, found, err := open(t, url, "main").ChangesSince(t.Context(), plumbing.NewHash(commit), []string{"."})
		if err != nil || found != want || len(changes) < 20 {
			t.Errorf("%d changes, found is %t, %v", len(changes), found, err)
		}
		if n := server.Reads(); n != 1 {
			t.Errorf("%d fetches", n)
		}
	}
	// The history is longer than MaxHistory, so the commit is not found.
	for i := range gitbranch.MaxHistory {
		gitserver.Seed(t, repo, "main", map[string]string{"a": strings.Repeat("y", i+1)})
	}
	server.ResetLog()
	changes, found, err := open(t, url, "main").ChangesSince(t.Context(), plumbing.NewHash(since), []string{"."})
	if err != nil || found || len(changes) != gitbranch.MaxHistory || server.Reads() != 1 {
		t.Errorf("%d changes, found is %t, %v, %d fetches", len(changes), found, err, server.Reads())
	}
}
