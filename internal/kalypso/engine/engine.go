// Package engine runs all stages on a fleet: validate, schedule, configure, render, tree.
package engine

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Output is the result of the stages.
type Output struct {
	// AssignmentsKnown reports whether the assignments of all cluster types are known.
	AssignmentsKnown bool
	// Schedule and Configuration are nil unless the assignments of a cluster type are known and the fleet is valid.
	// Failing templates and schema violations do not make it invalid, nor do faults of teams, if the fleet leaves these
	// targets out.
	Schedule      *schedule.Schedule
	Configuration *configure.Configuration
	// Requires finds the deployment targets that satisfy the requirements of assignments. It is nil without requirements,
	// or if Schedule is nil.
	Requires *requires.Index
	// Tree is nil unless the assignments of a cluster type are known and there is no error.
	Tree *tree.Tree
	// LeftOut lists the reasons why deployment targets are not in the tree, sorted. It is empty unless
	// [fleet.Fleet].LeaveOutFailed is set.
	LeftOut problem.Problems
}

// Run sorts the fleet and runs all stages on all CPUs. It reports the problems of all stages, sorted: an error in one
// stage does not stop the next. If no assignments are known, it only checks the objects. It calls progress, if not nil,
// after each folder, from one goroutine at a time. Once ctx is done, it stops with an error among the problems. It
// reports a panic of a stage as an error.
func Run(
	ctx context.Context, f *fleet.Fleet, progress func(done, total int),
) (result *Output, problems problem.Problems) {
	defer problem.ReportPanic(func(p *problem.Panic) {
		result, problems = &Output{}, append(problems, fleet.PanicProblem(f.Objects(), p))
		problems.Sort()
	})
	problems = f.Validate(ctx)

	assignments := &schedule.Schedule{Unknown: true}
	if schedule.NamesKnown(f) {
		var ps problem.Problems
		assignments, ps = schedule.New(ctx, f)
		problems = append(problems, ps...)
	}
	some, all := assignments.Known()
	problems = append(problems, f.ValidateReferences(assignments.Assigned)...)

	configuration, ps := configure.New(ctx, f, assignments)
	problems = append(problems, ps...)
	ofTeams, others := problems.SplitTeamFaults()
	valid := !others.HasErrors() && (f.LeaveOutFailed || len(ofTeams) == 0)

	index := requires.New(f, assignments)
	renderer, ps := render.New(ctx, f, assignments, configuration, index)
	problems = append(problems, ps...)

	files, ps := tree.Build(
		ctx, f, assignments, renderer, index, ofTeams.AffectedEverywhere(), valid && !ps.HasErrors(), progress)

	result = &Output{AssignmentsKnown: all}
	if err := ctx.Err(); err != nil { // the stages failed only because ctx is done
		return result, append(problems, fleet.StoppedProblem(err))
	}
	problems = append(problems, ps...)
	problems.Sort()
	if f.LeaveOutFailed {
		result.LeftOut, problems = problems.SplitTeamFaults()
	}
	if some && valid {
		result.Schedule, result.Configuration, result.Requires = assignments, configuration, index
	}
	if some && !problems.HasErrors() {
		result.Tree = files
	}
	return result, problems
}
