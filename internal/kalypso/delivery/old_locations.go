package delivery

import (
	"slices"
)

// OldLocation is a location on another branch that still contains the tree from before a move. A pull request of its
// own removes that. An apply opens it only once the destination contains the tree. Otherwise people could merge it
// first, and clusters would find the tree at neither location.
type OldLocation struct {
	State  *State `json:"state"`            // what was delivered there
	Number int    `json:"number,omitempty"` // of the pull request; 0 if there is none yet
	Closed bool   `json:"closed,omitempty"` // people closed the pull request without merging it
}

// open reports whether the pull request that removes the old location is open.
func (o *OldLocation) open() bool { return o.Number != 0 && !o.Closed }

// OldLocations returns the locations on other branches to remove once the destination contains the tree. It skips a
// location that the rendering moves back to.
func (a *Arguments) OldLocations(s *State) []*OldLocation {
	if !s.Current() || a.KeepOld {
		return nil
	}
	var all []*OldLocation
	for _, old := range s.OldLocations {
		if !old.State.Destination.Same(a.Destination) {
			all = append(all, old)
		}
	}
	if a.Moves(s) && !a.MovesWithin(s) && s.ContainsOurs() {
		left := *s
		left.Proposal, left.OldLocations = nil, nil
		all = append(all, &OldLocation{State: &left})
	}
	return all
}

// keptByMove lists the paths that a move leaves at the old location; "": it leaves none.
func keptByMove(a *Arguments, s *State) string {
	if !a.Delivers() || !a.Located() || !a.KeepOld || !a.Moves(s) {
		return ""
	}
	paths, err := PathsToRemove(s, &s.Seen)
	if err != nil || len(paths) == 0 {
		return ""
	}
	return listPaths(s, paths)
}

// Removals returns the old locations for which the apply opens a pull request, and those whose pull request it closes.
// delivered says that the destination contains the tree.
func (a *Arguments) Removals(s *State, delivered bool) (open, closing []*OldLocation) {
	if !s.Current() {
		return nil, nil
	}
	stay := a.OldLocations(s)
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

// ContainsOurs reports whether the branch, as it was last read, contains anything to remove.
func (s *State) ContainsOurs() bool {
	paths, err := PathsToRemove(s, &s.Seen)
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
