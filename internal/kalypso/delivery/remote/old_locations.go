package remote

import (
	"context"
	"errors"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// observeOldLocations returns the old locations that still contain something to remove.
func (r Operations) observeOldLocations(ctx context.Context, s *delivery.State) ([]*delivery.OldLocation, error) {
	var all []*delivery.OldLocation
	for _, old := range s.OldLocations {
		now, err := r.observeOldLocation(ctx, old)
		if err != nil {
			return nil, err
		}
		if now != nil {
			all = append(all, now)
		}
	}
	return all, nil
}

// observeOldLocation returns the current state of the old location, or nil if nothing is left to remove.
func (r Operations) observeOldLocation(ctx context.Context, o *delivery.OldLocation) (*delivery.OldLocation, error) {
	now := *o
	if o.Number != 0 {
		pr, err := r.readPullRequest(ctx, o.State.Destination.Repo, o.Number)
		if err != nil {
			return nil, err
		}
		if pr.State == githost.Merged && pr.Target == o.State.Destination.Branch {
			return nil, nil
		}
		now.Closed = pr.State != githost.Open
	}
	var err error
	now.State, err = Observe(ctx, r.Git, o.State)
	switch {
	case errors.Is(err, gitbranch.ErrBranchNotFound), err == nil && !delivery.ContainsOurs(now.State):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &now, nil
}

// Removal is a pull request that removes the folders and the record at a destination.
type Removal struct {
	From        destination.Destination
	PullRequest *githost.PullRequest
}

// RemoveOld opens the pull requests that remove old locations, and closes those of locations that on_move keeps. It
// returns the new state, even with an error.
func (r *pullRequests) RemoveOld(ctx context.Context, s *delivery.State) (*delivery.State, []Removal, error) {
	now := *s
	now.OldLocations = nil
	open, closing := delivery.RemovalPullRequests(r.args, s, true)
	if err := r.closeRemovals(ctx, closing); err != nil {
		return s, nil, err
	}
	var removals []Removal
	var failed error
	for _, old := range delivery.OldLocations(r.args, s) {
		if !slices.Contains(open, old) || failed != nil {
			now.OldLocations = append(now.OldLocations, old)
			continue
		}
		pr, err := r.Remove(ctx, old.State, moveMessage(old.State))
		failed = err
		next := *old
		switch {
		case pr != nil && pr.State != githost.Merged:
			next.Number, next.Closed = pr.Number, pr.State == githost.Closed
			removals = append(removals, Removal{old.State.Destination, pr})
		case err == nil:
			continue // it contains nothing of ours
		}
		now.OldLocations = append(now.OldLocations, &next)
	}
	return &now, removals, failed
}
