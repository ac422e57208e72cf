package gitremote_test

import (
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestRefs lists the branches of an empty repo, and of a repo with branches and tags, over each server.
func TestRefs(t *testing.T) {
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			url, credentials := backend.Start(t, repo)
			list := func() gitremote.References {
				t.Helper()
				r := open(t, url, credentials).Reader(t.Context(), gitremote.ReadLimits{})
				defer r.Close()
				refs, err := r.Refs("refs/heads/")
				if err != nil {
					t.Fatal(err)
				}
				return refs
			}
			if refs := list(); len(refs) > 0 {
				t.Errorf("an empty repository has %v", refs)
			}
			want := gitremote.References{}
			for _, branch := range []string{"main", "env/dev", "env/prod"} {
				head := gitserver.Seed(t, repo, branch, map[string]string{"branch": branch})
				want[plumbing.NewBranchReferenceName(branch)] = plumbing.NewHash(head)
			}
			gitserver.Git(t, repo, "tag", "v1", "main")
			if diff := cmp.Diff(want, list()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
