package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// Verification checks the signatures of the commits that are read.
type Verification struct {
	*verify.Verifier
	Now time.Time // the time at which OpenPGP keys must not have expired
}

// errUnverified means that a commit has no signature that is accepted.
var errUnverified = errors.New("its signature is not accepted")

// commit checks the signature of a commit, and returns its signer.
func (v *Verification) commit(history gitbranch.History, commit plumbing.Hash) (signer string, err error) {
	raw, err := history.Raw(commit)
	if err != nil {
		return "", err
	}
	signer, err = v.Commit(raw, v.Now)
	if err != nil {
		return "", fmt.Errorf("commit %s is not verified: %w: %w", commit, errUnverified, err)
	}
	return signer, nil
}

// verifyHistory checks the signatures of the locations' commits since the last delivery, if the mode is history. It
// returns an error or nil for each location.
func (r *Reader) verifyHistory(ctx context.Context, locations []Location, f FollowOptions) []error {
	errs := make([]error, len(locations))
	var origins []origin.Origin
	var err error
	isAsked := func(at Location) bool { return at.Verify != nil && at.Verify.History }
	if f.Delivered != nil && slices.ContainsFunc(locations, isAsked) {
		origins, err = f.Delivered(ctx, f.GitOpsRepo)
	}
	parallel.Limited(len(locations), cap(r.slots), func(i int) {
		at := locations[i]
		if !isAsked(at) {
			return
		}
		errs[i] = err
		if err != nil {
			return
		}
		var known []plumbing.Hash
		for _, o := range origins {
			if o.Commit != "" && giturl.Same(o.Repo, at.Repo) && (o.Branch == at.Branch || o.Branch == "") {
				known = append(known, plumbing.NewHash(o.Commit))
			}
		}
		if len(known) == 0 {
			return // nothing was delivered from it, so only its head is verified
		}
		readErr := r.withRepo(ctx, at.Repo, func(git *gitbranch.Repo) { errs[i] = at.verifySince(git, known) })
		errs[i] = cmp.Or(readErr, errs[i])
	})
	return errs
}

// verifySince checks the signatures of the commits of a location that come after the known commits.
func (p Location) verifySince(git *gitbranch.Repo, known []plumbing.Hash) error {
	snapshot, err := git.At(plumbing.NewHash(p.Commit), p.Branch)
	if err != nil {
		return err
	}
	history := snapshot.History()
	newer, found, err := history.FirstParentsSince(known)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("commit %s is not verified: it has no commit in common with the last delivery, %s, so it is "+
			"unknown which commits are new. Set mode = \"head\" for one apply if that is right: %w", p.Commit, known[0],
			errUnverified)
	}
	for _, c := range newer {
		if _, err := p.Verify.commit(history, c.Hash); err != nil {
			return err
		}
	}
	return nil
}
