package gitremote_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// historyRepo returns a repo of ten commits. The first adds 300 files, and each later commit changes one file.
func historyRepo(t *testing.T) (repo string, head plumbing.Hash) {
	t.Helper()
	repo = gitserver.InitBare(t)
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("folder-%d/%d", i%20, i)] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	gitserver.Seed(t, repo, "main", files)
	for i := range 9 {
		gitserver.Seed(t, repo, "main", map[string]string{"folder-3/changed": fmt.Sprint(i)})
	}
	return repo, plumbing.NewHash(gitserver.Rev(t, repo, "main"))
}

// TestDeepen reads a commit and then its history, over all servers. If a server has no filters, it sends all objects of
// these commits.
func TestDeepen(t *testing.T) {
	repo, head := historyRepo(t)
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			url, credentials := backend.Start(t, repo)
			for _, depth := range []int{4, 10, 50} {
				rd := open(t, url, credentials).Reader(t.Context(), gitremote.ReadLimits{})
				got := gitremote.Objects{}
				for _, d := range []int{1, depth} {
					want := gitremote.FetchRequest{Wants: []plumbing.Hash{head}, Depth: d, Filter: "tree:0"}
					if err := rd.Fetch(want, got); err != nil {
						t.Fatal(err)
					}
				}
				args := []string{"rev-list", "--objects", fmt.Sprintf("--max-count=%d", depth), "main"}
				if rd.Filters() {
					args = []string{"rev-list", fmt.Sprintf("--max-count=%d", depth), "main"}
				}
				rd.Close()
				for line := range strings.Lines(gitserver.Git(t, repo, args...)) {
					hash, _, _ := strings.Cut(strings.TrimSpace(line), " ")
					if _, here := got[plumbing.NewHash(hash)]; !here {
						t.Fatalf("depth %d: %s is missing", depth, line)
					}
				}
			}
		})
	}
}

// TestDeepenCost: a server without filters sends the objects of a commit only once, and each fetch over HTTP is one
// request.
func TestDeepenCost(t *testing.T) {
	repo, head := historyRepo(t)
	for name, options := range map[string][]gitserver.Option{"v0": {gitserver.WithProtocolV0()}, "v2": nil} {
		server, url := gitserver.Serve(t, repo, options...)
		rd := open(t, url, nil).Reader(t.Context(), gitremote.ReadLimits{})
		if _, err := rd.Ref(main); err != nil { // starts the session
			t.Fatal(err)
		}
		got := gitremote.Objects{}
		fetch := func(depth int, into gitremote.Objects) int64 {
			t.Helper()
			server.ResetLog()
			want := gitremote.FetchRequest{Wants: []plumbing.Hash{head}, Depth: depth}
			if err := rd.Fetch(want, into); err != nil {
				t.Fatal(err)
			}
			requests := server.Requests()
			if len(requests) != 1 || requests[0].Method != http.MethodPost {
				t.Fatalf("%s: the requests are %+v", name, requests)
			}
			return requests[0].Sent
		}
		first, more := fetch(1, got), fetch(10, got)
		if more > first/2 {
			t.Errorf("%s: %d bytes for a commit, and %d for its history", name, first, more)
		}
		if all := fetch(10, gitremote.Objects{}); all < first {
			t.Errorf("%s: a new client gets %d bytes for the history, but %d for one commit", name, all, first)
		}
		rd.Close()
	}
}
