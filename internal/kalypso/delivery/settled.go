package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
)

// Settled returns the decision of a plan that has nothing to do, because the branch, or that of the pull request,
// already contains the tree that the next apply would leave. It returns nil if that is for [Decide] to find out. p and
// s are what the last apply left.
func Settled(r *next.Rendered, p *past.Prior, s *past.State) *Decision {
	n, a := next.New(r, p, s), r.Wish
	if a.WritesNothing(p) || n.Known < inventory.Whole || len(check.Kept(n)) > 0 ||
		p.TreeHash != n.Folders.TreeHash().String() || !p.PullRequest.Equal(a.PullRequest) ||
		!p.Owners.Equal(a.Owners) || !nothingLeft(n, p, s) {
		return nil
	}
	decision := &Decision{
		Action: Keep, Applied: n, Before: s, Prior: p, Step: n.Step, Description: inventory.Unread,
	}
	decision.keepArguments()
	return decision
}

// nothingLeft reports whether the last apply, which left s, delivered, proposed or computed a tree, and nothing else is
// to be done.
func nothingLeft(n *next.Next, p *past.Prior, s *past.State) bool {
	a := n.Wish
	if a.Strategy == strategy.None {
		return p.Commit == "" && s.Readable() && s.Proposal == nil && s.Environment == a.Environment &&
			s.PromotedCommit == n.Record.PromotedCommit && s.Delivered.Equal(n.Folders) &&
			s.Decisions.Equal(n.Record.Decisions)
	}
	if settles(n, s) || !a.Delivers() || !a.Updates(s) || s.Drifted() || len(s.OldLocations) > 0 ||
		!s.Desired().Decisions.Equal(n.Record.Decisions) ||
		!n.IsContainedBy(&s.Desired().LastRead) {
		return false
	}
	proposed := s.Proposal
	switch {
	case a.Strategy == strategy.Push || proposed == nil:
		return proposed == nil && p.Commit != ""
	default:
		return proposed.Open() && !proposed.Broken() && proposed.Withheld == "" && n.Withheld == ""
	}
}
