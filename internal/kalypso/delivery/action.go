package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// action decides from the configuration and the last apply, without foreign changes of the branch.
func (decision *Decision) action() Action {
	t, p, s := decision.Applied, decision.Prior, decision.Before
	switch {
	case unknown.Is(string(t.Wish.Strategy)):
		return Undecided
	case t.Wish.Strategy == strategy.PullRequest && s.Current() && s.Proposal != nil && t.Withheld != "":
		if s.Proposal.Open() && s.Proposal.Withheld != t.Withheld {
			return Withhold
		}
		return Keep // a closed one is not opened again
	case decision.strategyWrites(), decision.treeChanges(), decision.recordChanges(), decision.failuresChange(),
		settles(t, s):
		return Write
	case t.Known < inventory.Whole, t.Rendered.Folders.Known() == inventory.Whole &&
		!t.Rendered.DecisionsKnown(), !t.Wish.Located(), unknown.Is(t.Record.PromotedCommit):
		return Undecided
	case t.Wish.Strategy == strategy.PullRequest:
		open, closing := Removals(t.Wish, s, p.Commit != "" && s.Proposal == nil)
		switch {
		case len(open)+len(closing) == 0:
		case t.Wish.Known < inventory.Whole:
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
	switch t.Wish.Strategy {
	case strategy.Push:
		return p.Commit == "" || !s.Current() || s.Drifted() || s.UnsavedCommit != "" ||
			t.Wish.Located() && len(OldLocations(t.Wish, s)) > 0
	case strategy.PullRequest:
		return !s.Current() || decision.needsProposal()
	case strategy.None:
		return p.Commit != "" || s != nil && s.Proposal != nil
	}
	return false
}

// treeChanges reports whether the tree is known to change, or its environment, its destination or its placement
// decisions.
func (decision *Decision) treeChanges() bool {
	t, s := decision.Applied, decision.Before
	current := s.Current()
	return t.Known == inventory.Whole && decision.Prior.TreeHash != t.Folders.TreeHash().String() ||
		current && !unknown.Is(t.Wish.Environment) && s.Desired().Environment != t.Wish.Environment ||
		current && t.Wish.Located() && !s.Destination.Same(t.Wish.Destination) ||
		(current || t.Wish.Strategy == strategy.None) && decision.decisionsChanged()
}

// recordChanges reports whether the promoted commit in the record changes, or a rollout begins or ends.
func (decision *Decision) recordChanges() bool {
	t, p, s := decision.Applied, decision.Prior, decision.Before
	if t.Rendered.Tree == nil || t.Known == inventory.Unread {
		return t.Wish.Rollout == nil && !unknown.Is(t.Wish.Promotion.Commit) && p.PromotedCommit != t.Wish.Promotion.Commit
	}
	last, promoted := s, t.Record.PromotedCommit
	if s != nil {
		last = s.Desired()
	}
	switch {
	case last.Current() && last.Rollout.UnderWay() != t.Rollout.UnderWay():
		return true
	case unknown.Is(promoted):
		return false
	case t.Wish.Rollout != nil && last.Current():
		return promoted != last.PromotedCommit
	}
	return p.PromotedCommit != promoted
}

// needsProposal reports whether the apply changes the pull request although the tree stays the same.
func (decision *Decision) needsProposal() bool {
	a, p, s := decision.Applied, decision.Prior, decision.Before
	switch proposal := s.Proposal; {
	case proposal == nil:
		return p.Commit == "" || s.Drifted() || s.UnsavedCommit != ""
	case !proposal.Open():
		return a.Wish.PullRequest.Reopen
	default:
		return proposal.Broken() || proposal.Withheld != "" || s.Drifted() || !p.PullRequest.Equal(a.Wish.PullRequest) ||
			!p.Owners.Equal(a.Wish.Owners)
	}
}

// failuresChange reports whether the failing assignments in the record change.
func (decision *Decision) failuresChange() bool {
	t, s := decision.Applied, decision.Before
	if !t.Wish.Delivers() || !s.Current() || t.Known < inventory.Whole {
		return false
	}
	last := s.Desired().LastRead.Record
	return last != nil && !last.SameFailures(t.Record)
}

// settles reports whether the record must note that the environment succeeded after an automatic rollback. With
// strategy push, this alone makes a commit. With pull requests, the next pull request includes it.
func settles(t *next.Next, s *past.State) bool {
	return t.Wish.Strategy == strategy.Push && s.Current() && t.Known == inventory.Whole && t.Wish.Promotion.Settled &&
		s.LastRead.Record != nil && s.LastRead.Record.FinalPromotion().Unsettled
}

// decisionsChanged reports whether the decisions differ from those that were last delivered or proposed.
func (decision *Decision) decisionsChanged() bool {
	t, s := decision.Applied, decision.Before
	return t.Known == inventory.Whole && t.Rendered.Folders.Known() == inventory.Whole &&
		t.Rendered.DecisionsKnown() && s != nil &&
		!t.Rendered.Decisions.Equal(s.Desired().Decisions)
}
