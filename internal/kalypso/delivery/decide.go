package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// Action is what an apply does.
type Action int

// The actions.
const (
	// Keep writes nothing. What was delivered or proposed equals what is desired.
	Keep Action = iota
	// Undecided depends on values that are not known yet.
	Undecided
	// Write delivers the tree to its branch, or proposes it in a pull request. With [ComputeOnly], it changes the state
	// only.
	Write
	// RemoveOld writes nothing to the destination. It opens pull requests that remove the folders at old locations. If
	// on_move keeps them, it closes those pull requests.
	RemoveOld
	// Withhold writes nothing to any branch. It makes the open pull request a draft that must not be merged now.
	Withhold
	// Nothing delivers nothing: a create before anything is promoted, or while the environment is frozen.
	Nothing
)

// Prior is what Terraform's state says about a rendering, besides the private state.
type Prior struct {
	Strategy       Strategy
	Destination    record.Destination
	Environment    string
	TreeHash       string
	TargetTreeHash string // of the fleet's tree; empty if there is no rollout
	PromotedCommit string // empty if there is none
	Commit         string // on the branch that holds the tree; empty if none does
	Delivered      bool
	Holders        map[string][]string // the cluster types of each deployment target, sorted
	PullRequest    pullrequest.Settings
}

// delivered reports whether something was delivered or proposed.
func (p *Prior) delivered() bool {
	return p.Strategy == PullRequest && p.TreeHash != "" || p.Strategy == Push && p.Commit != ""
}

// Decision is what an apply does, and what its plan reports. It depends on what is desired, on the state, and on what
// the last run read of the branch. [Check] and the deliveries apply the same rules to the branch that they read: see
// [Desired.change].
type Decision struct {
	Action Action
	// Comparable says that the apply writes a known tree, and that the state knows the tree before it. Describable says
	// that everything else that [Desired.Describe] describes is known too.
	Comparable, Describable bool
	// Adoption lists the folders of others that the rendering adopts.
	Adoption Adoption
	// Drift lists the branches on which the apply overwrites changes of others: the destination, and the branch of the
	// pull request.
	Drift []*State
	// ClosedPullRequest is the number of the pull request that people closed without merging it. It is 0 if there is
	// none, or if the apply opens a new one.
	ClosedPullRequest int
	// LeftTree is the destination that keeps the delivered tree once the rendering is only computed, and LeftPullRequest
	// the pull request that stays open. They are nil and 0 if there is none.
	LeftTree        *record.Destination
	LeftPullRequest int
	// Moves are the deployment targets that move between cluster types.
	Moves []Move
	// Renamed lists the folders of cluster types with a new name: old → new.
	Renamed []string
	// Replaced is the environment whose rendering this one replaces. It is empty if there is none.
	Replaced string
	// OldRemoved are the old locations that a pull request of this apply removes. OldKept are those whose pull request
	// this apply closes. OldKeptForNow are those that a later apply removes, once the destination holds the tree.
	OldRemoved, OldKept, OldKeptForNow []record.Destination
	// Unreadable says that a tree was delivered, but that the private state can't be read. [Recover] reads the branch
	// instead.
	Unreadable bool
	// Check says that the state does not know the destination. The plan reads the branch for errors.
	Check bool
	// Rests says why the apply writes nothing, whatever the fleet renders to; "": it may write. Waiting lists what would
	// change, by cluster type, as far as it is known.
	Rests   string
	Waiting map[string]string
	// Withheld says why the open pull request must not be merged now; "": it may be.
	Withheld string
	// Rollout is the step of the rollout that the apply takes, or nil.
	Rollout *rollout.Step
	// Errors say why the apply would fail, as far as the state knows.
	Errors []error
}

// Decide decides what an apply does. For a create, p is nil. If the private state can't be read, s is nil. Decide
// contacts no server, and returns the same for a plan and for its apply.
func Decide(d *Desired, p *Prior, s *State) *Decision {
	s = d.Accept(p, s)
	d.resolve(p, s)
	if d.Rests(p) {
		return d.rest(p, s)
	}
	decision := &Decision{Action: Write}
	if d.Tree != nil {
		decision.Rollout = d.applied().step
		decision.Errors = d.keptErrors()
	}
	if p == nil {
		decision.Check = d.Delivers() && !d.Incomplete
		if decision.Check && d.Tree != nil {
			if err := d.Guardrails.CheckFirstDelivery(d.Target(), d.whyEmpty); err != nil {
				decision.Errors = append(decision.Errors, err)
			}
		}
		return decision
	}
	decision.Action = d.action(p, s)
	if d.Strategy == PullRequest {
		decision.ClosedPullRequest = s.ClosedPullRequest()
	}
	if d.Strategy == PullRequest && s.Current() && s.Proposal.Open() {
		decision.Withheld = d.applied().withheld
	}
	switch decision.Action {
	case Keep, Withhold:
		return decision
	case RemoveOld:
		open, closing := d.removals(s, true)
		decision.OldRemoved, decision.OldKept = destinations(open), destinations(closing)
		return decision
	}
	if decision.Moves = d.Moves(s); len(decision.Moves) > 0 {
		decision.Renamed = d.renamedClusterTypes(s)
	}
	if d.Strategy == PullRequest && d.Located() {
		decision.OldKeptForNow = destinations(d.oldLocations(s))
	}
	if s.Current() && !unknown.Is(d.Environment) && s.desiredEnvironment() != d.Environment {
		decision.Replaced = s.desiredEnvironment()
	}
	decision.Comparable = decision.Action == Write && d.Known() && d.canCompare(s)
	decision.Describable = decision.Comparable && d.describable()
	switch {
	case d.Strategy == ComputeOnly:
		decision.LeftTree, decision.LeftPullRequest = leftBehind(p, s)
	case d.Delivers():
		decision.Drift = d.overwrittenDrift(s)
		decision.Unreadable = p.Commit != "" && !s.Current()
		decision.Check = !d.Incomplete && !d.updates(s)
		if s.Current() && !d.Incomplete && d.Tree != nil {
			decision.checkState(d, s)
		}
	}
	return decision
}

// rest decides for an apply that writes nothing.
func (d *Desired) rest(p *Prior, s *State) *Decision {
	decision := &Decision{Action: Keep, Rests: d.Promotion.Frozen()}
	switch {
	case decision.Rests != "":
	case d.NoCommit:
		decision.Rests = "Nothing is promoted to the environment yet."
	default:
		decision.Rests = "The rollout is paused, and nothing was delivered yet."
		decision.Rollout = &rollout.Step{Paused: d.Rollout.Pause}
	}
	if p == nil {
		decision.Action = Nothing
	}
	if !s.Current() {
		return decision
	}
	if s.Drifted() {
		decision.Drift = []*State{s}
	}
	if d.Tree != nil && !d.NoCommit {
		decision.Waiting = Changes(d.baseline(s), d.Target())
	}
	if s.Proposal.Open() && !d.NoCommit {
		decision.Withheld = decision.Rests
		decision.Waiting = nil
		if d.Tree != nil {
			decision.Waiting = Changes(d.baseline(s), s.Proposal.Head.Delivered)
		}
		if s.Proposal.Withheld != decision.Withheld {
			decision.Action = Withhold
		}
	}
	return decision
}

// action decides from the configuration and the last apply, without looking at what others changed on the branch.
func (d *Desired) action(p *Prior, s *State) Action {
	current := s.Current()
	switch {
	case unknown.Is(string(d.Strategy)):
		return Undecided
	case d.Strategy == PullRequest && current && s.Proposal != nil && d.applied().withheld != "":
		if s.Proposal.Open() && s.Proposal.Withheld != d.applied().withheld {
			return Withhold
		}
		return Keep // a closed one is not opened again
	case d.Strategy == Push && (p.Commit == "" || !current || s.Drifted()),
		d.Strategy == PullRequest && (!current || d.needsProposal(p, s)),
		d.Strategy == ComputeOnly && (p.Commit != "" || s != nil && s.Proposal != nil),
		d.Known() && p.TreeHash != d.Inventory().TreeHash().String(),
		current && !unknown.Is(d.Environment) && s.desiredEnvironment() != d.Environment,
		current && d.Located() && !s.Destination.Same(d.Destination),
		d.recordChanges(p, s),
		d.failuresChange(s),
		(current || d.Strategy == ComputeOnly) && d.decisionsChanged(s):
		return Write
	case d.Strategy == Push && d.Located() && len(d.oldLocations(s)) > 0:
		return Write
	case !d.Known(), !d.Tree.Unknown && !d.decisionsKnown(), !d.Located(), unknown.Is(d.AppliedPromotedCommit()):
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
		return d.Rollout == nil && !unknown.Is(d.Promotion.Commit) && p.PromotedCommit != d.Promotion.Commit
	}
	last, promoted := s, d.AppliedPromotedCommit()
	if s != nil && s.Proposal != nil {
		last = s.Proposal.Head
	}
	switch {
	case last.Current() && last.Rollout.UnderWay() != d.applied().rollout.UnderWay():
		return true
	case unknown.Is(promoted):
		return false
	case d.Rollout != nil && last.Current():
		return promoted != last.PromotedCommit
	}
	return p.PromotedCommit != promoted
}

func destinations(places []*OldLocation) []record.Destination {
	var all []record.Destination
	for _, old := range places {
		all = append(all, old.State.Destination)
	}
	return all
}

// needsProposal reports whether the apply changes the pull request although the tree stays the same.
func (d *Desired) needsProposal(p *Prior, s *State) bool {
	switch proposal := s.Proposal; {
	case proposal == nil:
		return p.Commit == "" || s.Drifted()
	case !proposal.Open():
		return d.PullRequest.Reopen
	default:
		return proposal.Broken() || proposal.Withheld != "" || s.Drifted() || !p.PullRequest.Equal(d.PullRequest)
	}
}

// canCompare reports whether the state knows the tree before.
func (d *Desired) canCompare(s *State) bool {
	return s != nil && s.Delivered != nil && (!d.Delivers() || s.Current())
}

// leftBehind returns what stays on the server once the rendering is only computed.
func leftBehind(p *Prior, s *State) (at *record.Destination, pullRequest int) {
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

// checkState adds the errors that the branch, as it was last read, implies. If the state does not know the
// destination, it checks the guardrails of the move only.
func (decision *Decision) checkState(d *Desired, s *State) {
	if !d.updates(s) {
		for _, err := range []error{d.checkMove(s), d.mayStay(s)} {
			if err != nil {
				decision.Errors = append(decision.Errors, err)
			}
		}
		return
	}
	change, errs := d.change(s, &s.Seen, nil)
	decision.Adoption, decision.Errors = change.Adoption, append(decision.Errors, errs...)
}

// overwrittenDrift returns the branches on which the apply overwrites changes of others: the destination, and the
// branch of the pull request.
func (d *Desired) overwrittenDrift(s *State) []*State {
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
	case len(p.OtherCommits) > 0:
		others := *p.Head
		others.Drift = p.OtherCommits
		all = append(all, &others)
	}
	return all
}

// overwrites reports whether the apply overwrites changes of others on the branch of s. It overwrites nothing if the
// branch holds what is desired: because the fleet took over the change, or because an apply was killed after its
// push.
func (d *Desired) overwrites(s *State, updates bool) bool {
	if !s.Current() || !s.Drifted() {
		return false
	}
	wanted, hash := Inventory{}, "" // of the record
	if updates {
		if d.Tree == nil {
			return true
		}
		wanted, hash = d.Inventory(), d.recordOn(&s.Seen).Hash()
	}
	ours := s.Ours()
	for _, name := range d.baseline(s).differing(ours) {
		if ours[name].Hash != wanted[name].Hash {
			return true
		}
	}
	if updates && (d.continues(s.Seen.Record) || s.Reverted()) {
		return false
	}
	return s.Seen.RecordHash != s.DeliveredRecord && s.Seen.RecordHash != hash
}

// continues reports whether a record is of an earlier wave of the same rollout: of an apply that was killed after its
// push.
func (d *Desired) continues(r *record.Record) bool {
	return d.Rollout != nil && r != nil && r.Rollout != nil && r.Environment == d.Environment &&
		d.TargetTreeHash() != "" && r.Rollout.TargetTreeHash == d.TargetTreeHash()
}
