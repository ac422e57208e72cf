package delivery

import (
	"context"
	"errors"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// OldLocation is a location on another branch that still contains what was delivered before a move. A pull request of
// its own removes that. An apply opens it only once the destination contains the tree. Otherwise people could merge it
// first, and clusters would find the tree at neither location.
type OldLocation struct {
	State  *State `json:"state"`            // what was delivered there
	Number int    `json:"number,omitempty"` // of the pull request; 0 if there is none yet
	Closed bool   `json:"closed,omitempty"` // people closed the pull request without merging it
}

// open reports whether the pull request that removes the old location is open.
func (o *OldLocation) open() bool { return o.Number != 0 && !o.Closed }

// oldLocations returns the locations on other branches to remove once the destination contains the tree. It skips a
// location that the rendering moves back to.
func (a *Arguments) oldLocations(s *State) []*OldLocation {
	if !s.Current() || a.KeepOld {
		return nil
	}
	var all []*OldLocation
	for _, old := range s.OldLocations {
		if !old.State.Destination.Same(a.Destination) {
			all = append(all, old)
		}
	}
	if a.moves(s) && !a.movesWithin(s) && s.containsOurs() {
		left := *s
		left.Proposal, left.OldLocations = nil, nil
		all = append(all, &OldLocation{State: &left})
	}
	return all
}

// removals returns the old locations for which the apply opens a pull request, and those whose pull request it closes.
// delivered says that the destination contains the tree.
func (a *Arguments) removals(s *State, delivered bool) (open, closing []*OldLocation) {
	if !s.Current() {
		return nil, nil
	}
	stay := a.oldLocations(s)
	for _, old := range s.OldLocations {
		if old.open() && !slices.Contains(stay, old) {
			closing = append(closing, old)
		}
	}
	if !delivered {
		return nil, closing
	}
	for _, old := range stay {
		if old.Number == 0 || old.Closed && a.PullRequest.Reopen {
			open = append(open, old)
		}
	}
	return open, closing
}

// containsOurs reports whether the branch, as it was last read, contains anything to remove.
func (s *State) containsOurs() bool {
	paths, err := pathsToRemove(s, &s.Seen)
	return len(paths) > 0 || err != nil && s.Seen.RecordError != ""
}

// Reviewed reports whether the state knows pull requests of the rendering.
func (s *State) Reviewed() bool {
	if s.Proposal != nil || s.Removal != 0 {
		return true
	}
	for _, old := range s.OldLocations {
		if old.Number != 0 {
			return true
		}
	}
	return false
}

// observeOldLocations returns the old locations that still contain something to remove.
func observeOldLocations(
	ctx context.Context, client *gitremote.Client, host hosting.Host, s *State,
) ([]*OldLocation, error) {
	var all []*OldLocation
	for _, old := range s.OldLocations {
		now, err := observeOldLocation(ctx, client, host, old)
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
func observeOldLocation(
	ctx context.Context, client *gitremote.Client, host hosting.Host, o *OldLocation,
) (*OldLocation, error) {
	now := *o
	if o.Number != 0 {
		repo, err := host.Repo(o.State.Destination.Repo)
		if err != nil {
			return nil, err
		}
		pr, err := repo.Read(ctx, o.Number)
		if err != nil {
			return nil, err
		}
		if pr.State == hosting.Merged && pr.Target == o.State.Destination.Branch {
			return nil, nil
		}
		now.Closed = pr.State != hosting.Open
	}
	var err error
	now.State, err = Observe(ctx, client, o.State)
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound), err == nil && !now.State.containsOurs():
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &now, nil
}

// Removal is a pull request that removes the folders and the record at a destination.
type Removal struct {
	From        record.Destination
	PullRequest *hosting.PullRequest
}

// RemoveOld opens the pull requests that remove old locations, and closes those of locations that on_move keeps. It
// returns the new state, even with an error.
func (r *PullRequests) RemoveOld(ctx context.Context, a *Arguments, s *State) (*State, []Removal, error) {
	now := *s
	now.OldLocations = nil
	open, closing := a.removals(s, true)
	if err := r.closeRemovals(ctx, closing); err != nil {
		return s, nil, err
	}
	var removals []Removal
	var failed error
	for _, old := range a.oldLocations(s) {
		if !slices.Contains(open, old) || failed != nil {
			now.OldLocations = append(now.OldLocations, old)
			continue
		}
		pr, err := r.Remove(ctx, old.State, moveMessage(old.State), a.Author)
		failed = err
		next := *old
		switch {
		case pr != nil && pr.State != hosting.Merged:
			next.Number, next.Closed = pr.Number, pr.State == hosting.Closed
			removals = append(removals, Removal{old.State.Destination, pr})
		case err == nil:
			continue // it contains nothing of ours
		}
		now.OldLocations = append(now.OldLocations, &next)
	}
	return &now, removals, failed
}
