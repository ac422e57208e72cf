package gitbranch

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

const branchPrefix = "refs/heads/"

// CheckGlob returns an error if text is not a glob for [EachBranch].
func CheckGlob(text string) error {
	if text == "" {
		return fmt.Errorf("%q matches no branch; write a branch name, or a glob such as \"*\" or \"env/*\"", text)
	}
	if _, err := matchBranch(text, ""); err != nil {
		return fmt.Errorf("%q is not a glob: a bracket is not closed, or it ends with a backslash", text)
	}
	return nil
}

// matchBranch reports whether a glob matches a branch name, with the rules of git branch --list: * matches slashes too.
func matchBranch(glob, name string) (bool, error) {
	const noSlash = "\x00" // no branch name contains it
	return path.Match(strings.ReplaceAll(glob, "/", noSlash), strings.ReplaceAll(name, "/", noSlash))
}

// EachBranch visits the branches of a repo whose names match any of the globs, in the order of the names, until visit
// returns false. A glob is a branch name in which * stands for any characters, ? for one, and [ab] for one of these. If
// a glob matches no branch, visit gets the glob and [ErrBranchNotFound], after all branches.
//
// visit gets the branch at its head, or the error if the branch can't be read. An error does not end the visits.
// EachBranch itself fails if the branches can't be listed, or if the context ends.
func EachBranch(
	ctx context.Context, client *gitremote.Client, url string, globs []string,
	visit func(name string, s *Snapshot, err error) (next bool),
) error {
	remote, err := client.Remote(url)
	if err != nil {
		return err
	}
	r, store := remote.Reader(ctx, gitremote.ReadLimits{}), gitremote.Objects{}
	defer r.Close()
	refs, err := r.Refs(branchPrefix)
	if err != nil {
		return err
	}
	matched := map[string]bool{} // globs
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		name := strings.TrimPrefix(ref.String(), branchPrefix)
		wanted := false
		for _, glob := range globs {
			matches, err := matchBranch(glob, name)
			if err != nil {
				return CheckGlob(glob)
			}
			wanted, matched[glob] = wanted || matches, matched[glob] || matches
		}
		if !wanted {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("not all branches were read: %w", err)
		}
		s := newSnapshot(refs[ref], r, store)
		err := s.fetchRoot(filterAll)
		if err != nil {
			s = nil
		}
		if !visit(name, s, err) {
			return nil
		}
	}
	for _, glob := range globs {
		if !matched[glob] && !visit(glob, nil, ErrBranchNotFound) {
			return nil
		}
	}
	return nil
}
