package baserepo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestEach: Each finds the branches with a BaseRepo. If the file of a branch is not a BaseRepo, this is an error of
// this branch only.
func TestEach(t *testing.T) {
	t.Parallel()
	const file = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata: {name: base}\n" +
		"spec: {repo: https://github.com/acme/base, branch: main, path: ., commit: COMMIT}\n"
	commit := strings.Repeat("a", 40)
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "dev", map[string]string{document.File: strings.Replace(file, "COMMIT", commit, 1)})
	gitserver.Seed(t, repo, "broken", map[string]string{document.File: "kind: [\n"})
	gitserver.Seed(t, repo, "main", map[string]string{"a.yaml": "a: b\n"})
	gitserver.Seed(t, repo, "unpinned", map[string]string{document.File: strings.Replace(file, ", commit: COMMIT", "", 1)})
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	url := "file://" + repo
	got := map[string]string{}
	err = baserepo.Remote{Git: client}.Each(t.Context(), url, []string{"*", "none"},
		func(at baserepo.EnvironmentBranch, s *baserepo.State, err error) bool {
			switch {
			case errors.Is(err, gitbranch.ErrBranchNotFound):
				got[at.Branch] = "no branch"
			case err != nil:
				got[at.Branch] = "error"
			default:
				got[at.Branch] = "commit " + s.Commit
				if read, err := (baserepo.Remote{Git: client}).Read(t.Context(), at); err != nil || cmp.Diff(read, s) != "" {
					t.Errorf("%s: Read returns another state: %v", at.Branch, err)
				}
			}
			return true
		})
	want := map[string]string{"dev": "commit " + commit, "broken": "error", "unpinned": "commit ", "none": "no branch"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
