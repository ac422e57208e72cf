// Package explain explains a schedule: why deployment targets are not assigned, and why policies assign nothing.
package explain

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// Explanation is the schedule of a fleet together with its reasons.
type Explanation struct {
	Schedule     *schedule.Schedule
	Unscheduled  []UnscheduledTarget // in the order of the schedule
	IdlePolicies []IdlePolicy        // sorted by policy

	policies     []policy
	clusterTypes []*fleet.ClusterType
	off          map[triple]string // why placement keeps the targets of interest off cluster types
}

// New explains the schedule of a fleet whose assignments are known. targets are the names that [Explanation.Why] can
// explain later.
func New(ctx context.Context, f *fleet.Fleet, s *schedule.Schedule, targets ...string) *Explanation {
	for _, t := range s.Unscheduled[:min(len(s.Unscheduled), mostUnscheduled)] {
		targets = append(targets, t.Name)
	}
	e := About(ctx, f, s, targets...)
	for _, t := range s.Unscheduled {
		limit := max(1, MaxRejections/len(s.Unscheduled))
		e.Unscheduled = append(e.Unscheduled, UnscheduledTarget{t, e.rejectionsOf(t, limit)})
	}
	for _, p := range e.policies {
		e.addIfIdle(p, f.Environment)
	}
	return e
}

// About returns an explanation that only serves [Explanation.Why], for the given targets.
func About(ctx context.Context, f *fleet.Fleet, s *schedule.Schedule, targets ...string) *Explanation {
	e := &Explanation{Schedule: s, clusterTypes: f.ClusterTypes, policies: policiesOf(f)}
	e.recordKeptOff(ctx, f, targets)
	return e
}

// mostUnscheduled limits the number of unscheduled targets that are explained with the reasons of placement.
const mostUnscheduled = 1000
