// Package explain gives the reasons of a schedule: why deployment targets are placed nowhere, why policies place nothing,
// and where the values of an assignment come from.
package explain

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Explanation is the schedule of a fleet with its reasons.
type Explanation struct {
	Schedule    *schedule.Schedule
	Unscheduled []Unscheduled // those of the schedule, in its order
	Idle        []Idle        // by policy

	configured [][]configure.Configured // by placement and assignment
}

// New schedules and configures a fleet of which all is known. All that is wrong with it is reported as [tree.Build] does,
// and there is no explanation where an error decides on the schedule or the values. What fails in a rendering alone, a
// template or what a schema has against the values, is a warning: it is shown with what it failed on.
func New(ctx context.Context, f *fleet.Fleet) (*Explanation, fleet.Problems) {
	own := f.Validate()
	s, ps := schedule.New(f)
	own = append(own, ps...)
	config, ps := configure.New(f)
	own = append(own, ps...)
	_, problems := tree.Build(ctx, f)
	if ctx.Err() != nil || own.HasErrors() {
		return nil, problems
	}
	for i, p := range problems {
		if p.Severity == fleet.Error {
			problems[i].Severity = fleet.Warning
			problems[i].Detail += "\n\nThis stops a rendering of the fleet. The schedule and the values are those that it fails with."
		}
	}
	problems.Sort()
	e := &Explanation{Schedule: s}
	for _, p := range s.Placements {
		configured := make([]configure.Configured, len(p.Assignments))
		for i := range p.Assignments {
			configured[i] = config.Of(&p.Assignments[i])
		}
		e.configured = append(e.configured, configured)
	}
	e.explainPolicies(f)
	return e, problems
}

// Values are those of the assignment n of the schedule's placement i. Assignments may share them.
func (e *Explanation) Values(i, n int) *configure.Values { return e.configured[i][n].Values }
