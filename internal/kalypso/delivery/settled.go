package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
)

// Settled returns the decision of a plan that has nothing to do, because the branch, or that of the pull request,
// already contains the tree that the next apply would leave. It returns nil if that is for [Decide] to find out. p and
// s are what the last apply left.
func Settled(r *next.Rendered, p *past.Prior, s *past.State) *Decision {
	n := next.New(r, p, s)
	decision := &Decision{
		Action: Keep, Applied: n, Before: s, Prior: p, Step: n.Step, Description: inventory.Unread,
	}
	if !s.Readable() || n.Wish.WritesNothing(p) || n.Known < inventory.Whole || len(check.Kept(n)) > 0 ||
		decision.action() != Keep || n.Withheld != "" || s.Proposal.Closed() != 0 || len(s.OldLocations) > 0 {
		return nil
	}
	decision.keepArguments()
	return decision
}
