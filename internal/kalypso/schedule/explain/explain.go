// Package explain explains a schedule: why deployment targets are not assigned, why policies assign nothing, and
// where the values of an assignment come from.
package explain

import (
	"context"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Explanation is the schedule of a fleet with the reasons for it.
type Explanation struct {
	Schedule     *schedule.Schedule
	Unscheduled  []UnscheduledTarget // in the order of the schedule
	IdlePolicies []IdlePolicy        // sorted by policy
	Failed       problem.Problems    // why deployment targets fail to render, by faults of teams

	configuration *configure.Configuration
	policies      []policy
	clusterTypes  []*fleet.ClusterType
	off           map[triple]string // the reasons of placement against the targets of interest
}

// New explains a fleet whose assignments are known. It returns the problems of [engine.Run]. It returns no
// explanation if an error affects the schedule or the values. A failing template, a schema violation or another fault
// of a team is only a warning: the explanation shows the values that cause it.
// [Explanation.Why] may be asked about the targets.
func New(ctx context.Context, f *fleet.Fleet, targets ...string) (*Explanation, problem.Problems) {
	f.LeaveOutFailed = true
	made, problems := engine.Run(ctx, f, nil)
	failed := slices.Clone(made.LeftOut)
	problems = append(problems, made.LeftOut...)
	problems.Sort()
	if made.Schedule == nil {
		return nil, problems
	}
	for i, p := range problems {
		if p.Severity == problem.Error {
			problems[i].Severity = problem.Warning
			problems[i].Detail += "\n\nA rendering of this fleet fails with this error. The schedule and the values shown are " +
				"the ones it fails with."
		}
	}
	problems.Sort()
	e := &Explanation{Schedule: made.Schedule, configuration: made.Configuration, Failed: failed}
	e.clusterTypes = f.ClusterTypes
	for _, t := range e.Schedule.Unscheduled[:min(len(e.Schedule.Unscheduled), mostUnscheduled)] {
		targets = append(targets, t.Name)
	}
	e.recordKeptOff(ctx, f, targets)
	e.explainPolicies(f)
	return e, problems
}

// mostUnscheduled limits the unscheduled targets that get the reasons of placement.
const mostUnscheduled = 1000

// Values returns the values of assignment n of placement i. Assignments may share them.
func (e *Explanation) Values(i, n int) *configure.Values { return e.configuration.Of(i, n).Values }

// Secrets returns the references to secrets of assignment n of placement i. Assignments may share them.
func (e *Explanation) Secrets(i, n int) *configure.Values { return e.configuration.Of(i, n).Secrets }
