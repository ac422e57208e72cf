package delivery

import (
	"context"
	"errors"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// OldPlace is a place on another branch that still holds what was delivered there before a move. A pull request of its own
// removes that, and is not opened before the destination holds the tree: else it could be merged first, and clusters would
// find the tree at neither.
type OldPlace struct {
	State  *State `json:"state"`            // of what was delivered there
	Number int    `json:"number,omitempty"` // of the pull request; 0: there is none yet
	// Closed says that people closed the pull request without merging it.
	Closed bool `json:"closed,omitempty"`
}

// open reports whether a pull request that removes what is there waits for people.
func (o *OldPlace) open() bool { return o.Number != 0 && !o.Closed }

// oldPlaces returns what is still to be removed from other branches once the rendering is at its destination. A place that it
// moves back to is none.
func (d *Desired) oldPlaces(s *State) []*OldPlace {
	if !s.Current() || d.KeepOld {
		return nil
	}
	var all []*OldPlace
	for _, old := range s.OldPlaces {
		if !old.State.Destination.Same(d.Destination) {
			all = append(all, old)
		}
	}
	if d.moves(s) && !d.movesWithin(s) && s.holdsOurs() {
		left := *s
		left.Proposal, left.OldPlaces = nil, nil
		all = append(all, &OldPlace{State: &left})
	}
	return all
}

// removals returns the old places that the apply opens pull requests for, and those whose pull requests it closes. delivered
// says that the destination holds the tree.
func (d *Desired) removals(s *State, delivered bool) (open, closing []*OldPlace) {
	if !s.Current() {
		return nil, nil
	}
	stay := d.oldPlaces(s)
	for _, old := range s.OldPlaces {
		if old.open() && !contains(stay, old) {
			closing = append(closing, old)
		}
	}
	if !delivered {
		return nil, closing
	}
	for _, old := range stay {
		if old.Number == 0 || old.Closed && d.PullRequest.Reopen {
			open = append(open, old)
		}
	}
	return open, closing
}

func contains(all []*OldPlace, one *OldPlace) bool {
	for _, old := range all {
		if old == one {
			return true
		}
	}
	return false
}

// holdsOurs reports whether the branch, as it was last read, holds what a removal would take away.
func (s *State) holdsOurs() bool {
	paths, err := pathsToRemove(s, &s.Seen)
	return len(paths) > 0 || err != nil && s.Seen.RecordError != ""
}

// Reviewed reports whether pull requests of the rendering are open, as far as the state knows.
func (s *State) Reviewed() bool {
	if s.Proposal != nil || s.Removal != 0 {
		return true
	}
	for _, old := range s.OldPlaces {
		if old.Number != 0 {
			return true
		}
	}
	return false
}

// observeOldPlaces returns those of the old places that still hold something to be removed.
func (s *State) observeOldPlaces(ctx context.Context, client *gitremote.Client, host hosting.Host) ([]*OldPlace, error) {
	var all []*OldPlace
	for _, old := range s.OldPlaces {
		now, err := old.observe(ctx, client, host)
		if err != nil {
			return nil, err
		}
		if now != nil {
			all = append(all, now)
		}
	}
	return all, nil
}

// observe returns the old place as it is now; nil where nothing is left to be removed.
func (o *OldPlace) observe(ctx context.Context, client *gitremote.Client, host hosting.Host) (*OldPlace, error) {
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
			return nil, nil //nolint:nilnil // nil is "nothing is left"
		}
		now.Closed = pr.State != hosting.Open
	}
	var err error
	now.State, err = Observe(ctx, client, o.State)
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound), err == nil && !now.State.holdsOurs():
		return nil, nil //nolint:nilnil // likewise
	case err != nil:
		return nil, err
	}
	return &now, nil
}

// Removal is a pull request that removes what was delivered to a destination.
type Removal struct {
	From        Destination
	PullRequest *hosting.PullRequest
}

// RemoveOld opens the pull requests that remove what was delivered to other branches before, and closes those of places that
// are to be kept. It returns the state with what it did, also with an error.
func (r *PullRequests) RemoveOld(ctx context.Context, client *gitremote.Client, d *Desired, s *State) (*State, []Removal, error) {
	now := *s
	now.OldPlaces = nil
	open, closing := d.removals(s, true)
	if err := r.closeRemovals(ctx, client, closing); err != nil {
		return s, nil, err
	}
	var removals []Removal
	var failed error
	for _, old := range d.oldPlaces(s) {
		if !contains(open, old) || failed != nil {
			now.OldPlaces = append(now.OldPlaces, old)
			continue
		}
		pr, err := r.Remove(ctx, client, old.State, d.removalMessage(old.State), d.Author)
		failed = err
		next := *old
		switch {
		case pr != nil && pr.State != hosting.Merged:
			next.Number, next.Closed = pr.Number, pr.State == hosting.Closed
			removals = append(removals, Removal{old.State.Destination, pr})
		case err == nil:
			continue // it holds nothing of ours any more
		}
		now.OldPlaces = append(now.OldPlaces, &next)
	}
	return &now, removals, failed
}
