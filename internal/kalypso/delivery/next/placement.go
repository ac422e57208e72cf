package next

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// setEarlier passes the earlier decisions of placement to the fleet. If they can't be read, it refuses a fleet that
// keeps its decisions.
func setEarlier(f *fleet.Fleet, p *past.Prior, s *past.State) problem.Problems {
	if p == nil || !schedule.Places(f) {
		return nil
	}
	earlier, known := s.Earlier()
	switch {
	case known:
		f.PriorPlacement = earlier
	case p.Commit != "" && schedule.KeepsEarlier(f):
		return problem.Problems{{
			Summary: "Earlier placement decisions can't be read",
			Detail: "The private state of the rendering is missing, or another version of the provider wrote it. Without the " +
				"earlier decisions, placement would decide again and move deployment targets. Plan with a refresh, which reads " +
				"them from the record on the branch. If that does not help, remove the rendering from the state with \"terraform " +
				"state rm\" and import it.",
		}}
	default:
		f.PriorPlacement = placement.PriorResults{Placed: p.Placed}
	}
	return nil
}

// DecisionsKnown reports whether no decision depends on values that are not known yet.
func (r *Rendered) DecisionsKnown() bool {
	if r.Tree.Schedule == nil {
		return true
	}
	_, all := r.Tree.Schedule.Known()
	return all && r.Tree.Schedule.DecisionsKnown()
}
