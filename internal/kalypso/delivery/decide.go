package delivery

import (
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/accepted"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Action is the kind of an apply.
type Action int

// The actions.
const (
	// Keep writes nothing. The delivered or proposed tree is the desired one.
	Keep Action = iota
	// Undecided depends on unknown values.
	Undecided
	// Write delivers the tree to its branch, or proposes it in a pull request. With [strategy.None], it changes the state
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

// Decision describes an apply, and the report of its plan. It depends on the rendered fleet, the state, and the branch
// as the last run read it. [remote.Check] and the deliveries apply the same rules to the branch that they read: see
// [comparison.change].
type Decision struct {
	// Applied is the tree that the apply leaves at the destination. Before is the state that the decision was made
	// from, or nil. If the fleet agrees with a revert, the reverted tree counts as delivered there. Prior is nil for a
	// create.
	Applied *AppliedTree
	Before  *State
	Prior   *Prior

	Action Action
	// Comparable says that the apply writes a known tree, and that the state knows the tree before it. Describable says
	// that everything else that [AppliedTree.Describe] describes is known too.
	Comparable, Describable bool
	// Adoption lists the foreign folders that the rendering adopts.
	Adoption Adoption
	// Drift lists the branches on which the apply overwrites foreign changes: the destination, and the branch of the
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
	// Emptied contains the folders of the cluster types that stay and lose all their deployment targets.
	Emptied inventory.Folders
	// Accepted are the parts of the change that are refused, and that accepted_changes allows.
	Accepted []accepted.ID
	// Renamed lists the folders of cluster types with a new name: old → new.
	Renamed []string
	// Replaced is the environment whose rendering this one replaces. It is empty if there is none.
	Replaced string
	// OldRemoved are the old locations that a pull request of this apply removes. OldKept are those whose pull request
	// this apply closes. OldKeptForNow are those that a later apply removes, once the destination contains the tree.
	OldRemoved, OldKept, OldKeptForNow []record.Destination
	// LeftBehind lists the paths that a move leaves at the old location, see on_move; "": it leaves none.
	LeftBehind string
	// Unreadable says that a tree was delivered, but that the private state can't be read. [remote.Recover] reads the
	// branch instead.
	Unreadable bool
	// Check says that the state does not know the destination. The plan reads the branch for errors.
	Check bool
	// Rests is the reason why the apply writes nothing, with any rendered tree; "": it may write. Waiting lists what
	// would change, by cluster type, as far as it is known.
	Rests   string
	Waiting map[string]string
	// Withheld is the reason why the open pull request must not be merged now; "": it may be.
	Withheld string
	// Unproven is the reason why the promoted commit has a closed gate, if the rendering has no earlier promotion
	// and takes the commit from the record on the branch; "": there is nothing to warn of.
	Unproven string
	// Step is the step of the rollout that the apply takes, or nil.
	Step *rollout.Step
	// Errors are the reasons why the apply would fail, as far as the state shows.
	Errors []error
}

// Decide decides on an apply. For a create, p is nil. If the private state can't be read, s is nil. Decide contacts no
// server, and returns the same for a plan and for its apply.
func Decide(r *Rendered, p *Prior, s *State) *Decision {
	t := newAppliedTree(r, p, s)
	if reverted := accept(t, p, s); reverted != s {
		s, t = reverted, newAppliedTree(r, p, reverted)
	}
	decision := &Decision{Action: Write, Applied: t, Before: s, Prior: p}
	if (p == nil || !p.Promotes) && t.Promotion.Stays() {
		decision.Unproven = t.Promotion.Unproven
	}
	if t.Rests(p) {
		decision.rest()
		return decision
	}
	if t.Tree != nil {
		decision.Step = t.step
		decision.Errors = keptErrors(t)
	}
	if p == nil {
		decision.Check = t.Delivers() && !t.Incomplete
		if decision.Check && t.Tree != nil {
			if err := t.Guardrails.CheckFirstDelivery(t.Target(), t.whyEmpty); err != nil {
				c, change := comparison{t, s, &BranchState{}}, &Change{}
				if err := c.refuse(change, err, accepted.Empty, err.stake...); err != nil {
					decision.Errors = append(decision.Errors, err)
				}
				decision.Accepted = change.Accepted
			}
		}
		return decision
	}
	decision.Action = decision.action()
	if t.Strategy == strategy.PullRequest {
		decision.ClosedPullRequest = s.ClosedPullRequest()
		if s.Current() && s.Proposal.Open() {
			decision.Withheld = t.withheld
		}
	}
	switch decision.Action {
	case Keep, Withhold:
	case RemoveOld:
		open, closing := t.Removals(s, true)
		decision.OldRemoved, decision.OldKept = destinations(open), destinations(closing)
	default:
		decision.write()
	}
	return decision
}

// write decides on the report of an apply that writes, or that may write.
func (decision *Decision) write() {
	t, p, s := decision.Applied, decision.Prior, decision.Before
	if decision.Moves = decision.moves(); len(decision.Moves) > 0 {
		decision.Renamed = decision.renamedClusterTypes()
		decision.checkMoves()
	}
	if t.Strategy == strategy.PullRequest && t.Located() {
		decision.OldKeptForNow = destinations(t.OldLocations(s))
	}
	decision.LeftBehind = keptByMove(t.Arguments, s)
	if s.Current() && !unknown.Is(t.Environment) && s.DesiredEnvironment() != t.Environment {
		decision.Replaced = s.DesiredEnvironment()
	}
	decision.Comparable = decision.Action == Write && t.Known() && decision.canCompare()
	decision.Describable = decision.Comparable && decision.describable()
	switch {
	case t.Strategy == strategy.None:
		decision.LeftTree, decision.LeftPullRequest = leftBehind(p, s)
	case t.Delivers():
		decision.Drift = decision.overwrittenDrift()
		for _, drifted := range decision.Drift {
			if id := DriftID(drifted); t.AcceptedChanges.Accepts(id) {
				decision.Accepted = append(decision.Accepted, id)
			}
		}
		decision.Unreadable = p.Commit != "" && !s.Current()
		decision.Check = !t.Incomplete && !t.Updates(s)
		if t.Updates(s) && !t.Incomplete && t.Tree != nil {
			decision.checkState()
		}
	}
}

// rest decides for an apply that writes nothing.
func (decision *Decision) rest() {
	t, s := decision.Applied, decision.Before
	decision.Action, decision.Rests = Keep, t.Promotion.Frozen()
	switch {
	case decision.Rests != "":
	case t.NoCommit:
		decision.Rests = "Nothing is promoted to the environment yet."
	default:
		decision.Rests = "The rollout is paused, and nothing was delivered yet."
		decision.Step = &rollout.Step{Paused: t.Rollout.Pause}
	}
	if decision.Prior == nil {
		decision.Action = Nothing
	}
	if !s.Current() {
		return
	}
	if s.Drifted() {
		decision.Drift = []*State{s}
	}
	if t.Tree != nil && !t.NoCommit {
		decision.Waiting = inventory.Changes(t.baseline(s), t.Target())
	}
	if !s.Proposal.Open() {
		return
	}
	decision.Withheld = decision.Rests
	if t.NoCommit && t.Promotion.Frozen() == "" { // the pull request stays as it is
		decision.Withheld = s.Proposal.Withheld
	}
	if decision.Withheld != "" {
		decision.Waiting = nil
		if t.Tree != nil {
			decision.Waiting = inventory.Changes(t.baseline(s), s.Proposal.Head.Delivered)
		}
		if s.Proposal.Withheld != decision.Withheld {
			decision.Action = Withhold
		}
	}
}

// action decides from the configuration and the last apply, without foreign changes of the branch.
func (decision *Decision) action() Action {
	t, p, s := decision.Applied, decision.Prior, decision.Before
	switch {
	case unknown.Is(string(t.Strategy)):
		return Undecided
	case t.Strategy == strategy.PullRequest && s.Current() && s.Proposal != nil && t.withheld != "":
		if s.Proposal.Open() && s.Proposal.Withheld != t.withheld {
			return Withhold
		}
		return Keep // a closed one is not opened again
	case decision.strategyWrites(), decision.treeChanges(), decision.recordChanges(), decision.failuresChange():
		return Write
	case !t.Known(), !t.Tree.Unknown && !t.decisionsKnown(), !t.Located(), unknown.Is(t.AppliedPromotedCommit()):
		return Undecided
	case t.Strategy == strategy.PullRequest:
		open, closing := t.Removals(s, p.Commit != "" && s.Proposal == nil)
		switch {
		case len(open)+len(closing) == 0:
		case t.Incomplete:
			return Undecided
		default:
			return RemoveOld
		}
	}
	return Keep
}

// strategyWrites reports whether the apply writes by its strategy, although the tree stays the same: the delivered or
// proposed tree is missing, has to be repaired, or is at a previous location.
func (decision *Decision) strategyWrites() bool {
	t, p, s := decision.Applied, decision.Prior, decision.Before
	switch t.Strategy {
	case strategy.Push:
		return p.Commit == "" || !s.Current() || s.Drifted() || t.Located() && len(t.OldLocations(s)) > 0
	case strategy.PullRequest:
		return !s.Current() || decision.needsProposal()
	case strategy.None:
		return p.Commit != "" || s != nil && s.Proposal != nil
	}
	return false
}

// treeChanges reports whether another tree is known to be due, or the same one for another environment, at another
// destination, or by other placement decisions.
func (decision *Decision) treeChanges() bool {
	t, s := decision.Applied, decision.Before
	current := s.Current()
	return t.Known() && decision.Prior.TreeHash != t.inventory.TreeHash().String() ||
		current && !unknown.Is(t.Environment) && s.DesiredEnvironment() != t.Environment ||
		current && t.Located() && !s.Destination.Same(t.Destination) ||
		(current || t.Strategy == strategy.None) && decision.decisionsChanged()
}

// recordChanges reports whether the record is to name another promoted commit, or a rollout that ends or begins.
func (decision *Decision) recordChanges() bool {
	t, p, s := decision.Applied, decision.Prior, decision.Before
	if t.Tree == nil || !t.Certain() {
		return t.Rollout == nil && !unknown.Is(t.Promotion.Commit) && p.PromotedCommit != t.Promotion.Commit
	}
	last, promoted := s, t.AppliedPromotedCommit()
	if s != nil && s.Proposal != nil {
		last = s.Proposal.Head
	}
	switch {
	case last.Current() && last.Rollout.UnderWay() != t.rollout.UnderWay():
		return true
	case unknown.Is(promoted):
		return false
	case t.Rollout != nil && last.Current():
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
func (decision *Decision) needsProposal() bool {
	a, p, s := decision.Applied, decision.Prior, decision.Before
	switch proposal := s.Proposal; {
	case proposal == nil:
		return p.Commit == "" || s.Drifted()
	case !proposal.Open():
		return a.PullRequest.Reopen
	default:
		return proposal.Broken() || proposal.Withheld != "" || s.Drifted() || !p.PullRequest.Equal(a.PullRequest)
	}
}

// canCompare reports whether the state contains the previous tree.
func (decision *Decision) canCompare() bool {
	a, s := decision.Applied, decision.Before
	return s != nil && s.Delivered != nil && (!a.Delivers() || s.Current())
}

// describable reports whether everything is known that [AppliedTree.Describe] describes.
func (decision *Decision) describable() bool {
	t := decision.Applied
	if !t.Known() || t.Strategy != strategy.None && !t.Located() || t.Review.Incomplete || unknown.Any(t.Sources) {
		return false
	}
	for _, text := range []string{string(t.Strategy), t.Environment, t.Promotion.Commit, string(t.Review.Detail)} {
		if unknown.Is(text) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Fleet.Configs, func(c *fleet.Config) bool {
		return unknown.Is(c.Name) || unknown.Any(c.Labels) || unknown.Any(c.Data)
	}) && !slices.ContainsFunc(t.Fleet.Secrets, func(s *fleet.Secret) bool { return fleet.HasUnknown(s) }) &&
		!slices.ContainsFunc(t.Fleet.Policies, func(p *fleet.SchedulingPolicy) bool { return unknown.Is(p.Name) })
}

// leftBehind returns the tree and the pull request that stay on the server once the rendering is only computed.
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

// checkState adds the errors that the branch, as it was last read, implies.
func (decision *Decision) checkState() {
	c := comparison{decision.Applied, decision.Before, &decision.Before.Seen}
	change, errs := c.change(nil)
	decision.Adoption, decision.Emptied = change.Adoption, change.Emptied
	decision.Errors = append(decision.Errors, errs...)
	decision.Accepted = append(decision.Accepted, change.Accepted...)
}

// checkMoves adds an error if the guardrails refuse that deployment targets move between cluster types.
func (decision *Decision) checkMoves() {
	t, s := decision.Applied, decision.Before
	if t.Guardrails.Moved != problem.Fail {
		return
	}
	stake := []string{t.Destination.String(), s.Seen.Head}
	for _, m := range decision.Moves {
		stake = append(stake, fmt.Sprint(m.Target, m.From, m.To))
	}
	err := &MovesError{decision.Moves, decision.Renamed, t.Rollout != nil}
	if err := t.AcceptedChanges.Refuse(err, &decision.Accepted, accepted.Moved, stake...); err != nil {
		decision.Errors = append(decision.Errors, err)
	}
}

// overwrittenDrift returns the branches on which the apply overwrites foreign changes: the destination, and the branch
// of the pull request.
func (decision *Decision) overwrittenDrift() []*State {
	t, s := decision.Applied, decision.Before
	var all []*State
	keeps := t.Moves(s) && t.KeepOld
	if overwrites(t, s, t.Updates(s)) && !keeps {
		all = append(all, s)
	}
	if !s.Current() || s.Proposal == nil {
		return all
	}
	p := s.Proposal
	switch {
	case overwrites(t, p.Head, t.Updates(s)):
		all = append(all, p.Head)
	case len(p.OtherCommits) > 0:
		others := *p.Head
		others.Drift = p.OtherCommits
		all = append(all, &others)
	}
	return all
}

// overwrites reports whether the apply overwrites foreign changes on the branch of s. It overwrites nothing if the
// branch contains the desired tree: because the fleet adopted the change, or because an apply was killed after its
// push.
func overwrites(t *AppliedTree, s *State, updates bool) bool {
	if !s.Current() || !s.Drifted() {
		return false
	}
	wanted, hash := inventory.Folders{}, "" // of the record
	if updates {
		if t.Tree == nil {
			return true
		}
		wanted, hash = t.inventory, t.recordOn(&s.Seen).Hash()
	}
	ours := s.Ours()
	for _, name := range t.baseline(s).Differing(ours) {
		if ours[name].Hash != wanted[name].Hash {
			return true
		}
	}
	if updates && (continues(t, s.Seen.Record) || s.Reverted()) {
		return false
	}
	return s.Seen.RecordHash != s.DeliveredRecord && s.Seen.RecordHash != hash
}

// continues reports whether a record is of an earlier wave of the same rollout: of an apply that was killed after its
// push.
func continues(t *AppliedTree, r *record.Record) bool {
	return t.Rollout != nil && r != nil && r.Rollout != nil && r.Environment == t.Environment &&
		t.TargetTreeHash() != "" && r.Rollout.TargetTreeHash == t.TargetTreeHash()
}
