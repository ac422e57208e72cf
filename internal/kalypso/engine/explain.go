package engine

import (
	"context"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Explanation is the schedule of a fleet with the reasons for it, and the values of its assignments.
type Explanation struct {
	*explain.Explanation
	Failed   problem.Problems // the faults of teams that keep deployment targets from being rendered
	Requires *requires.Index
	// Configuration contains the values and the references of each assignment. Assignments may share them.
	Configuration *configure.Configuration
}

// Explain explains a fleet whose assignments are known. It returns the problems of [Run]. It returns no explanation if
// an error affects the schedule or the values. A failing template, a schema violation or another fault of a team is
// only a warning: the explanation shows the values that cause it. targets are the names that [explain.Explanation.Why]
// can explain later.
func Explain(
	ctx context.Context, f *fleet.Fleet, prior placement.PriorResults, targets ...string,
) (*Explanation, problem.Problems) {
	made, problems := Run(ctx, f, Options{PriorPlacement: prior, LeaveOutFailed: true, Requires: problem.Warn})
	failed := slices.Clone(made.LeftOut)
	problems = append(problems, made.LeftOut...)
	problems.Sort()
	if made.Schedule == nil {
		return nil, problems
	}
	for i, p := range problems {
		if p.Severity == problem.Error {
			problems[i].Severity = problem.Warning
			problems[i].Detail += "\n\nA rendering of this fleet fails with this error. The schedule and the values here " +
				"show the cause."
		}
	}
	problems.Sort()
	of := explain.New(ctx, f, made.Schedule, targets...)
	return &Explanation{of, failed, made.Requires, made.Configuration}, problems
}
