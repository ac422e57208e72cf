package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
)

// Action is what an apply does.
type Action int

// The actions.
const (
	// Keep writes nothing: what was delivered, or proposed, is what is desired.
	Keep Action = iota
	// Undecided depends on values that are not known yet.
	Undecided
	// Write brings the tree to its branch, or to a pull request; where it is only computed, it changes the state.
	Write
	// RemoveOld writes nothing to the destination: pull requests that remove what was delivered elsewhere before are opened, or
	// closed where that is to stay.
	RemoveOld
)

// Prior is what Terraform's state says of a rendering, besides the private state.
type Prior struct {
	TreeHash       string
	TargetTreeHash string // what the fleet renders to; empty: there is no rollout
	PromotedCommit string // empty: none
	Commit         string // on the branch that holds the tree; empty: none does
	Delivered      bool
	PullRequest    PullRequestSettings
}

// Decision is what an apply does, and what there is to say about it. It follows from what is desired, what the state says,
// and what was last seen of the branch. A plan decides by the branch as the state has it; [Check] and the deliveries judge the
// branch that they read by the same rules, see [Desired.change].
type Decision struct {
	Action Action
	// Comparable says that the tree is written, and known, and that the state says what there is to compare it with: then
	// [Desired.Describe] tells what changes.
	Comparable bool
	// Adoption is what of others becomes ours.
	Adoption Adoption
	// Drift are the states whose branches hold changes of others that the apply overwrites: the destination's, and our own of a
	// pull request.
	Drift []*State
	// Abandoned is the number of the pull request that people closed without merging it, and that is not reopened; 0 for none.
	Abandoned int
	// Left is the destination whose tree, and LeftOpen the pull request, that nobody looks at any more, as the rendering is only
	// computed from now on. Nil and 0 where there is none.
	Left     *Destination
	LeftOpen int
	// Replaced is the environment whose rendering this one's takes the place of; empty where there is none.
	Replaced string
	// Removed are the destinations on other branches that the apply opens such pull requests for, Spared those whose it closes,
	// and Leaves those that a later apply opens one for, once the destination holds the tree.
	Removed, Spared, Leaves []Destination
	// Unreadable says that a tree was delivered, and that the private state tells nothing of it: [Recover] reads that.
	Unreadable bool
	// Check says that the state tells nothing of the destination, so that the branch is to be read for errors.
	Check bool
	// Rollout is what the apply does of a rollout; nil without one.
	Rollout *rollout.Step
	// Errors are why the apply can't be made, as far as the state tells.
	Errors []error
}

// Decide decides what an apply does. p is nil for a create; s is nil where there is no private state that can be read. It
// contacts nothing, and decides the same at plan and at apply.
func Decide(d *Desired, p *Prior, s *State) *Decision {
	d.resolve(p, s)
	decision := &Decision{Action: Write}
	if d.Tree != nil {
		decision.Rollout = d.applied().step
	}
	if p == nil {
		decision.Check = d.Delivers() && !d.Incomplete
		if decision.Check && d.Tree != nil {
			if err := d.Guardrails.CheckFirst(d.Target()); err != nil {
				decision.Errors = append(decision.Errors, err)
			}
		}
		return decision
	}
	decision.Action = d.action(p, s)
	if d.Strategy == PullRequest {
		decision.Abandoned = s.Abandoned()
	}
	switch decision.Action {
	case Keep:
		return decision
	case RemoveOld:
		open, closing := d.removals(s, true)
		decision.Removed, decision.Spared = destinations(open), destinations(closing)
		return decision
	}
	if d.Strategy == PullRequest && d.Located() {
		decision.Leaves = destinations(d.oldPlaces(s))
	}
	if s.Current() && !fleet.IsUnknown(d.Environment) && s.desiredEnvironment() != d.Environment {
		decision.Replaced = s.desiredEnvironment()
	}
	decision.Comparable = decision.Action == Write && d.Known() && d.comparable(s)
	switch {
	case d.Strategy == ComputeOnly:
		decision.Left, decision.LeftOpen = left(p, s)
	case d.Delivers():
		decision.Drift = d.overwritten(s)
		decision.Unreadable = p.Commit != "" && !s.Current()
		decision.Check = !d.Incomplete && !d.updates(s)
		if s.Current() && !d.Incomplete && d.Tree != nil {
			decision.judge(d, s)
		}
	}
	return decision
}

// action decides by the configuration and by what the last apply left alone.
func (d *Desired) action(p *Prior, s *State) Action {
	current := s.Current()
	switch {
	case fleet.IsUnknown(string(d.Strategy)):
		return Undecided
	case d.Strategy == Push && (p.Commit == "" || !current || s.Drifted()),
		d.Strategy == PullRequest && (!current || d.proposes(p, s)),
		d.Strategy == ComputeOnly && (p.Commit != "" || s != nil && s.Proposal != nil),
		d.Known() && p.TreeHash != d.Inventory().TreeHash().String(),
		current && !fleet.IsUnknown(d.Environment) && s.desiredEnvironment() != d.Environment,
		current && d.Located() && !s.Destination.Same(d.Destination),
		d.recordChanges(p, s),
		(current || d.Strategy == ComputeOnly) && d.decidesAnew(s):
		return Write
	case d.Strategy == Push && d.Located() && len(d.oldPlaces(s)) > 0:
		return Write
	case !d.Known() || !d.Located() || fleet.IsUnknown(d.AppliedPromotedCommit()):
		return Undecided
	case d.Strategy == PullRequest:
		open, closing := d.removals(s, p.Commit != "" && s.Proposal == nil)
		switch {
		case len(open)+len(closing) == 0:
		case d.Incomplete:
			return Undecided
		default:
			return RemoveOld
		}
	}
	return Keep
}

// recordChanges reports whether the record is to name another promoted commit, or a rollout that ends or begins.
func (d *Desired) recordChanges(p *Prior, s *State) bool {
	if d.Tree == nil || !d.Certain() {
		return d.Rollout == nil && !fleet.IsUnknown(d.PromotedCommit) && p.PromotedCommit != d.PromotedCommit
	}
	last, promoted := s, d.AppliedPromotedCommit()
	if s != nil && s.Proposal != nil {
		last = s.Proposal.Head
	}
	switch {
	case last.Current() && last.Rollout.UnderWay() != d.applied().rollout.UnderWay():
		return true
	case fleet.IsUnknown(promoted):
		return false
	case d.Rollout != nil && last.Current():
		return promoted != last.PromotedCommit
	}
	return p.PromotedCommit != promoted
}

func destinations(places []*OldPlace) []Destination {
	var all []Destination
	for _, old := range places {
		all = append(all, old.State.Destination)
	}
	return all
}

// proposes reports whether an apply has something to propose, or to put right, though the tree is the one before.
func (d *Desired) proposes(p *Prior, s *State) bool {
	switch proposal := s.Proposal; {
	case proposal == nil:
		return p.Commit == "" || s.Drifted()
	case !proposal.Open():
		return d.PullRequest.Reopen
	default:
		return proposal.Broken() || s.Drifted() || !p.PullRequest.Equal(d.PullRequest)
	}
}

// comparable reports whether the state says what there is to compare the tree with.
func (d *Desired) comparable(s *State) bool {
	return s != nil && s.Delivered != nil && (!d.Delivers() || s.Current())
}

// left returns what stays of a delivered tree that is only computed from now on.
func left(p *Prior, s *State) (at *Destination, pullRequest int) {
	if !s.Current() {
		return nil, 0
	}
	if s.Proposal.Open() {
		pullRequest = s.Proposal.Number
	}
	if p.Commit != "" {
		at = &s.Destination
	}
	return at, pullRequest
}

// judge decides by the branch as it was last read: of a destination that the state does not know, by its guardrails alone.
func (decision *Decision) judge(d *Desired, s *State) {
	if !d.updates(s) {
		for _, err := range []error{d.mayMove(s), d.mayStay(s)} {
			if err != nil {
				decision.Errors = append(decision.Errors, err)
			}
		}
		return
	}
	change, errs := d.change(s, &s.Seen, nil)
	decision.Adoption, decision.Errors = change.Adoption, errs
}

// overwritten returns the states of the branches on which the apply changes what others made of our folders: the
// destination's, and our own of a proposal.
func (d *Desired) overwritten(s *State) []*State {
	var all []*State
	keeps := d.moves(s) && d.KeepOld
	if d.overwrites(s, d.updates(s)) && !keeps {
		all = append(all, s)
	}
	if !s.Current() || s.Proposal == nil {
		return all
	}
	p := s.Proposal
	switch {
	case d.overwrites(p.Head, d.updates(s)):
		all = append(all, p.Head)
	case len(p.Others) > 0:
		others := *p.Head
		others.Drift = p.Others
		all = append(all, &others)
	}
	return all
}

// overwrites reports whether the apply changes what others made of our folders on the branch of s. It does not where they are
// as desired: a change of others that came into the fleet, or an apply that was killed after its push.
func (d *Desired) overwrites(s *State, updates bool) bool {
	if !s.Current() || !s.Drifted() {
		return false
	}
	wanted, record := Inventory{}, ""
	if updates {
		if d.Tree == nil {
			return true
		}
		wanted, record = d.Inventory(), d.recordOn(&s.Seen).hash()
	}
	ours := s.Ours()
	for _, name := range s.Delivered.differing(ours) {
		if ours[name].Hash != wanted[name].Hash {
			return true
		}
	}
	if updates && d.continues(s.Seen.Record) {
		return false
	}
	return s.Seen.RecordHash != s.DeliveredRecord && s.Seen.RecordHash != record
}

// continues reports whether a record is of an earlier wave of the same rollout: of an apply that was killed after its push.
func (d *Desired) continues(r *Record) bool {
	return d.Rollout != nil && r != nil && r.Rollout != nil && r.Environment == d.Environment &&
		d.TargetTreeHash() != "" && r.Rollout.TargetTreeHash == d.TargetTreeHash()
}
