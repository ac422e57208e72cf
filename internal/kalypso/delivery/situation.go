package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// Situation is a rendering before an apply: its arguments, and the result of the last run. [situate] computes it once,
// and everything else reads it. It is never modified.
type Situation struct {
	Args *Arguments
	// Prior contains the attributes after the last apply; nil for a create.
	Prior *Prior
	// Found is the delivery of the last run; nil if no private state can be read. State is the one to start from: Found,
	// or the branch as it is now, see [Situation.stateToStartFrom].
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
	First      Case = "first"       // no apply put anything on the branch, as far as the state shows
	Recover    Case = "recover"     // something was delivered, but the private state can't be read
	Update     Case = "update"      // the same destination
	MoveWithin Case = "move within" // another path of the same branch
	Move       Case = "move"        // another branch
)

// Stop lets nothing go: neither a promotion nor a change of the environment's own. A destroy is not stopped.
//
// Its plan is a [Rest]: the apply writes to no branch. If an open pull request must not be merged meanwhile, the plan
// is a [Withhold] first: the apply makes it a draft, if the host has drafts, ends our auto-merge, and writes the reason
// into its text. Once the stop is gone, an apply takes that back.
//
// Arguments that decide what is delivered keep their values, unless they were or become null or unknown. Computed
// attributes keep theirs too; those of a rollout are null without the argument. So a Rest shows no change. A Withhold
// shows the new promotion, and pull_request as known after apply. A create shows an empty tree that is not delivered.
// Package report warns with the reason: see stopProblems.
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
	Frozen          Cause = "frozen" // by hold without pinned_commit, or nothing good is left to go back to
	RolloutPaused   Cause = "paused" // before anything was delivered, by people or by windows
)

// CaseOf compares the last delivery in s with the destination of an apply, whatever the strategy is. Without a
// delivery, it returns [First].
func CaseOf(a *Arguments, s *State) Case {
	switch {
	case !s.Current():
		return First
	case s.Destination.Same(a.Destination):
		return Update
	case s.Destination.SameBranch(a.Destination):
		return MoveWithin
	}
	return Move
}

// moves reports whether the last apply delivered to another destination.
func (c Case) moves() bool { return c == Move || c == MoveWithin }

// delivered reports whether the state says what the last apply delivered.
func (c Case) delivered() bool { return c == Update || c.moves() }

// situate returns the situation of a rendering. p is nil for a create. s is nil if no private state can be read.
func situate(a *Arguments, p *Prior, s *State) *Situation {
	now := &Situation{Args: a, Prior: p, State: s, Found: s, Case: CaseOf(a, s), Stop: stopOf(a, p)}
	switch {
	case a.Strategy == destination.None:
		now.Case = Computed
	case now.Case == First && p != nil && p.Commit != "":
		now.Case = Recover
	}
	return now
}

// with returns the situation with another state of the same delivery.
func (s *Situation) with(state *State) *Situation {
	now := *s
	now.State = state
	return &now
}

// stopOf returns what stops the apply of a rendering, or nil. p is nil for a create.
func stopOf(a *Arguments, p *Prior) *Stop {
	frozen := a.Promotion.Frozen()
	switch {
	case frozen != "":
		return &Stop{Frozen, frozen}
	case a.NoCommit:
		return &Stop{NothingPromoted, "Nothing is promoted to the environment yet."}
	case a.Delivers() && a.Rollout != nil && a.Rollout.Paused() != "" && (p == nil || !p.DeliveredBefore()):
		return &Stop{RolloutPaused, "The rollout is paused, and nothing was delivered yet."}
	}
	return nil
}

// ReadsBranch reports whether a plan that writes, or may write, reads the branch to find errors, because the state does
// not contain the destination.
func (s *Situation) ReadsBranch() bool {
	return s.Case != Update && s.Args.Delivers() && s.Args.Known == inventory.Whole
}

// Recovers reports whether the apply reads what was delivered from the branch, because the private state can't be read.
func (s *Situation) Recovers() bool { return s.Case == Recover && s.Args.Delivers() }

// treeUnread reports whether the tree depends on a branch that the state does not contain: the branch may contain
// folders to adopt, or the last delivery, or is not known yet.
func (s *Situation) treeUnread() bool {
	lastUnread := s.Prior != nil && s.Prior.TreeHash != "" && (s.State == nil || s.State.LastRead.Head != "")
	return !s.State.Current() && (s.Args.mayAdopt() || s.Args.Known < inventory.Whole || lastUnread)
}

// lastState returns the state of the branch that got the last tree: the branch of the pull request, if one proposes it.
// It is nil if the state can't be read.
func (s *Situation) lastState() *State {
	if !s.State.Current() {
		return nil
	}
	return s.State.Desired()
}

// replaced returns the environment whose rendering this one replaces, or "".
func (s *Situation) replaced() string {
	if s.environmentChanges() {
		return s.lastState().Environment
	}
	return ""
}

// remaining returns the trees and the pull request that stay on the server once the rendering is only computed.
func (s *Situation) remaining() (trees []destination.Destination, pullRequest int) {
	if s.lastState() == nil {
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
