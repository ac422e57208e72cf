package baserepo

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
)

// Each visits the branches of a repo that the globs match and that contain a BaseRepo, by name, until visit returns
// false. For the globs, and for what it returns, see [gitops.Repo.EachBranch]. If a branch or its file cannot be read,
// visit gets the error, and no state.
func (r Remote) Each(
	ctx context.Context, url string, globs []string, visit func(at EnvironmentBranch, s *State, err error) (next bool),
) (err error) {
	repo, err := gitops.OpenRepo(r.Git, url, gitops.Limits{})
	if err != nil {
		return err
	}
	repo.WithConnection(ctx, func() {
		err = repo.EachBranch(globs, func(name string, snapshot *gitops.Snapshot, err error) bool {
			at := EnvironmentBranch{Repo: url, Branch: name}
			var s *State
			if err == nil {
				if s, err = read(snapshot, at); err == nil {
					_, err = document.Parse([]byte(s.File))
				}
			}
			switch {
			case s != nil && s.File == "":
				return true
			case err != nil:
				s = nil
			}
			return visit(at, s, err)
		})
	})
	return err
}
