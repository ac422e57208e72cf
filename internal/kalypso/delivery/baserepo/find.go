package baserepo

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
)

// Each visits the branches of a repo that the globs match and that contain a BaseRepo, by name, until visit returns
// false. For the globs and the result, see [gitbranch.EachBranch]. If a branch or its file cannot be read,
// visit gets the error, and no state.
func (r Remote) Each(
	ctx context.Context, url string, globs []string, visit func(at EnvironmentBranch, s *State, err error) (next bool),
) error {
	return gitbranch.EachBranch(ctx, r.Git, url, globs, func(name string, snapshot *gitbranch.Snapshot, err error) bool {
		at := EnvironmentBranch{Repo: url, Branch: name}
		var s *State
		if err == nil {
			s, err = read(snapshot, at)
			if err == nil {
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
}
