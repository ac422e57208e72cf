package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// Situation is a rendering before an apply: its arguments, and the result of the last run. It is computed once, by
// [situate].
type Situation struct {
	Wish *Arguments
	// Prior contains the attributes after the last apply; nil for a create.
	Prior *Prior
	// State is the delivery of the last run; nil if no private state can be read. If the fleet now renders the
	// tree to which people reverted the branch, State treats that tree as delivered, and Found does not.
	State, Found *State
	Case         Case
	// Stop lets nothing go; nil: nothing stops the apply.
	Stop *Stop
}

// Case says where the last apply delivered to, compared with the destination of this one.
type Case string

// The cases.
const (
	Computed   Case = "computed"    // the strategy none: there is no destination
	Create     Case = "create"      // there was no apply
	First      Case = "first"       // earlier applies put nothing on the branch, as far as the state shows
	Recover    Case = "recover"     // something was delivered, but the private state can't be read
	Update     Case = "update"      // the same destination
	MoveWithin Case = "move within" // another path of the same branch
	Move       Case = "move"        // another branch
)

// Stop lets nothing go: neither a promotion nor a change of the environment's own.
type Stop struct {
	Cause Cause
	// Text is a sentence.
	Text string
}

// Cause is the cause of a [Stop].
type Cause string

// The causes.
const (
	NothingPromoted Cause = "nothing promoted"
	Frozen          Cause = "frozen" // by people
	RolloutPaused   Cause = "paused" // before anything was delivered, by people or by windows
)

// situate returns the situation of a rendered fleet, and the tree that an apply leaves. p is nil for a create. s is nil
// if no private state can be read.
func situate(r *Rendered, p *Prior, s *State) (*Situation, *NextTree) {
	now := &Situation{Wish: r.Wish, Prior: p, State: s, Found: s, Stop: stopOf(r.Wish, p)}
	t := NewNextTree(r, p, s)
	if reverted := accept(t, now); reverted != s {
		now.State, t = reverted, NewNextTree(r, p, reverted)
	}
	switch a := r.Wish; {
	case a.Strategy == destination.None:
		now.Case = Computed
	case p == nil:
		now.Case = Create
	case !now.State.Current() && p.Commit == "":
		now.Case = First
	case !now.State.Current():
		now.Case = Recover
	case a.Updates(now.State):
		now.Case = Update
	case a.MovesWithin(now.State):
		now.Case = MoveWithin
	default:
		now.Case = Move
	}
	return now, t
}

// stopOf returns what stops the apply of a rendering, or nil. p is nil for a create.
func stopOf(a *Arguments, p *Prior) *Stop {
	frozen := a.Promotion.Frozen()
	switch {
	case !a.WritesNothing(p):
		return nil
	case frozen != "":
		return &Stop{Frozen, frozen}
	case a.NoCommit:
		return &Stop{NothingPromoted, "Nothing is promoted to the environment yet."}
	}
	return &Stop{RolloutPaused, "The rollout is paused, and nothing was delivered yet."}
}

// readsBranch reports whether the state does not contain the destination.
func (s *Situation) readsBranch() bool {
	return s.Case != Update && s.Wish.Delivers() && s.Wish.Known == inventory.Whole
}

// Recovers reports whether the apply reads what was delivered from the branch, because the private state can't be read.
func (s *Situation) Recovers() bool { return s.Case == Recover && s.Wish.Delivers() }

// last returns the state of the branch that got the last tree: the branch of the pull request, if one proposes it. It
// is nil if the state can't be read.
func (s *Situation) last() *State {
	if !s.State.Current() {
		return nil
	}
	return s.State.Desired()
}

// replaced returns the environment whose rendering this one replaces, or "".
func (s *Situation) replaced() string {
	if s.environmentChanges() {
		return s.last().Environment
	}
	return ""
}

// remaining returns the trees and the pull request that stay on the server once the rendering is only computed.
func (s *Situation) remaining() (trees []destination.Destination, pullRequest int) {
	if s.last() == nil {
		return nil, 0
	}
	if s.State.Proposal.Open() {
		pullRequest = s.State.Proposal.Number
	}
	if s.Prior.Commit != "" {
		trees = append([]destination.Destination{s.State.Destination}, destinations(s.State.OldLocations)...)
	}
	return trees, pullRequest
}
