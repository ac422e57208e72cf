package past

import "slices"

// OldLocation is a location on another branch that still contains the tree from before a move. A separate pull request
// removes that tree. An apply opens it only once the destination contains the tree. Otherwise people could merge it
// first, and clusters would find the tree at neither location.
type OldLocation struct {
	State  *State `json:"state"`            // what was delivered there
	Number int    `json:"number,omitempty"` // of the pull request; 0 if there is none yet
	Closed bool   `json:"closed,omitempty"` // people closed the pull request without merging it
}

// Open reports whether the pull request that removes the old location is open.
func (o *OldLocation) Open() bool { return o.Number != 0 && !o.Closed }

// Reviewed reports whether the state knows pull requests of the rendering.
func (s *State) Reviewed() bool {
	return s.Proposal != nil || s.Removal != 0 ||
		slices.ContainsFunc(s.OldLocations, func(old *OldLocation) bool { return old.Number != 0 })
}
