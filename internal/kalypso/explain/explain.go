// Package explain gives the reasons of a schedule: why deployment targets are placed nowhere, why policies place nothing,
// and where the values of an assignment come from.
package explain

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// Explanation is the schedule of a fleet with its reasons.
type Explanation struct {
	Schedule     *schedule.Schedule
	Unscheduled  []UnscheduledTarget // those of the schedule, in its order
	IdlePolicies []IdlePolicy        // by policy

	configuration *configure.Configuration
}

// New explains a fleet that is decided. It reports the problems of [engine.Run]. There is no explanation if an error
// decides on the schedule or the values. What fails in the rendering alone, a template or a schema that refuses values, is
// a warning: the explanation shows what it fails on.
func New(ctx context.Context, f *fleet.Fleet) (*Explanation, fleet.Problems) {
	made, problems := engine.Run(ctx, f, nil)
	if made.Schedule == nil {
		return nil, problems
	}
	for i, p := range problems {
		if p.Severity == fleet.Error {
			problems[i].Severity = fleet.Warning
			problems[i].Detail += "\n\nThis stops a rendering of the fleet. The schedule and the values are those that it fails with."
		}
	}
	problems.Sort()
	e := &Explanation{Schedule: made.Schedule, configuration: made.Configuration}
	e.explainPolicies(f)
	return e, problems
}

// Values are those of the assignment n of the schedule's placement i. Assignments may share them.
func (e *Explanation) Values(i, n int) *configure.Values { return e.configuration.Of(i, n).Values }
