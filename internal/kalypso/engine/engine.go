// Package engine runs all stages on a fleet: validate, schedule, configure, render, tree.
package engine

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Options say how a run uses a fleet. The zero value fails if any deployment target fails, and compares with nothing.
type Options struct {
	// PriorPlacement contains the placement decisions of earlier runs.
	PriorPlacement placement.PriorResults
	// LeaveOutFailed says that a deployment target with a [problem.TeamFault] is left out of the tree, instead of failing
	// the rendering.
	LeaveOutFailed bool
	// Duplicates is the reaction to objects that several deployment targets of a cluster type render, see [tree.Options].
	Duplicates problem.Reaction
	// Invalid is the reaction to rendered files that no cluster can apply, see [tree.Options].
	Invalid problem.Reaction
	// Requires is the reaction to requirements that no deployment target satisfies, see [requires.Options].
	Requires problem.Reaction
	// Delivered returns the first bytes of the hash of a folder as it was last delivered, see [tree.Options]. It may be
	// nil.
	Delivered func(clusterType, target string) []byte
	// OnBranch reports whether the branch contains the folder of a target, see [requires.Options]. It may be nil.
	OnBranch func(clusterType, target string) bool
	// Progress is called after each folder, from one goroutine at a time. It may be nil.
	Progress func(done, total int)
}

// Output is the result of the stages.
type Output struct {
	// AssignmentsKnown reports whether the assignments of all cluster types are known.
	AssignmentsKnown bool
	// Schedule and Configuration are nil unless the assignments of a cluster type are known and the fleet is valid.
	// Failing templates and schema violations do not make it invalid, nor do faults of teams, if the options leave these
	// targets out.
	Schedule      *schedule.Schedule
	Configuration *configure.Configuration
	// Requires finds the deployment targets that satisfy the requirements of assignments. It is nil without requirements,
	// or if Schedule is nil.
	Requires *requires.Index
	// Tree is nil unless the assignments of a cluster type are known and there is no error.
	Tree *tree.Tree
	// LeftOut lists the reasons why deployment targets are not in the tree, sorted. It is empty unless
	// [Options].LeaveOutFailed is set.
	LeftOut problem.Problems
}

// Run sorts the fleet and runs all stages on all CPUs. It reports the problems of all stages, sorted: an error in one
// stage does not stop the next. If no assignments are known, it only checks the objects. Once ctx is done, it stops
// with an error among the problems. It reports a panic of a stage as an error.
func Run(ctx context.Context, f *fleet.Fleet, o Options) (result *Output, problems problem.Problems) {
	defer problem.ReportPanic(func(p *problem.Panic) {
		result, problems = &Output{}, append(problems, fleet.PanicProblem(f.Objects(), p))
		problems.Sort()
	})
	problems = f.Validate(ctx)

	assignments := &schedule.Schedule{Unknown: true}
	if schedule.NamesKnown(f) {
		var ps problem.Problems
		assignments, ps = schedule.New(ctx, f, o.PriorPlacement)
		problems = append(problems, ps...)
	}
	some, all := assignments.Known()
	problems = append(problems, f.ValidateReferences(assignments.Assigned)...)

	configuration, ps := configure.New(ctx, f, assignments)
	problems = append(problems, ps...)
	ofTeams, others := problems.SplitTeamFaults()
	valid := !others.HasErrors() && (o.LeaveOutFailed || len(ofTeams) == 0)

	index := requires.New(f, assignments, requires.Options{
		Reaction: o.Requires, LeaveOutFailed: o.LeaveOutFailed, OnBranch: o.OnBranch,
	})
	renderer, ps := render.New(ctx, f, assignments, configuration, index)
	problems = append(problems, ps...)

	files, ps := tree.Build(ctx, assignments, renderer, index, tree.Options{
		LeaveOutFailed: o.LeaveOutFailed, LeftOut: ofTeams.AffectedEverywhere(), Valid: valid && !ps.HasErrors(),
		Duplicates: o.Duplicates, Invalid: o.Invalid, Delivered: o.Delivered, Progress: o.Progress,
	})

	result = &Output{AssignmentsKnown: all}
	if err := ctx.Err(); err != nil { // the stages failed only because ctx is done
		return result, append(problems, fleet.StoppedProblem(err))
	}
	problems = append(problems, ps...)
	problems.Sort()
	if o.LeaveOutFailed {
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
