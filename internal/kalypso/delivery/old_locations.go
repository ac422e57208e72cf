package delivery

import (
	"slices"
)

// OldLocations returns the locations on other branches to remove once the destination contains the tree. It skips a
// location that the rendering moves back to.
func OldLocations(a *Arguments, s *State) []*OldLocation {
	if !s.Current() || a.KeepOld {
		return nil
	}
	var all []*OldLocation
	for _, old := range s.OldLocations {
		if !old.State.Destination.Same(a.Destination) {
			all = append(all, old)
		}
	}
	if CaseOf(a, s) == Move && ContainsOurs(s) {
		left := *s
		left.Proposal, left.OldLocations = nil, nil
		all = append(all, &OldLocation{State: &left})
	}
	return all
}

// RemovalPullRequests returns the old locations for which the apply opens a pull request, and those whose pull request
// it closes. delivered says that the destination contains the tree.
func RemovalPullRequests(a *Arguments, s *State, delivered bool) (open, closing []*OldLocation) {
	if !s.Current() {
		return nil, nil
	}
	stay := OldLocations(a, s)
	for _, old := range s.OldLocations {
		if old.Open() && !slices.Contains(stay, old) {
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
