// Package engine takes a fleet through all stages: validate, schedule, configure, render, tree.
package engine

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Result is what the stages make of a fleet.
type Result struct {
	// AssignmentsKnown reports whether all is known that the assignments depend on; see [schedule.AssignmentsKnown].
	AssignmentsKnown bool
	// Schedule and Configuration are nil unless the fleet is decided and valid. Templates that fail, and values that a
	// schema refuses, do not count here.
	Schedule      *schedule.Schedule
	Configuration *configure.Configuration
	// Tree is nil unless the fleet is decided and there is no error.
	Tree *tree.Tree
}

// Run sorts the fleet and takes it through all stages, on all processors. It reports the problems of all stages
// together, sorted: a stage that finds errors does not stop the next one. It checks the objects of a fleet that is not
// decided, and schedules nothing. It calls progress, unless nil, after each folder, from one goroutine at a time. Once
// ctx is done it stops, with an error among the problems.
func Run(ctx context.Context, f *fleet.Fleet, progress func(done, total int)) (*Result, fleet.Problems) {
	problems := f.Validate(ctx)

	decided := schedule.AssignmentsKnown(f)
	assignments := &schedule.Schedule{}
	if decided {
		var ps fleet.Problems
		assignments, ps = schedule.New(ctx, f)
		problems = append(problems, ps...)
	}

	configuration, ps := configure.New(ctx, f, assignments)
	problems = append(problems, ps...)
	valid := !problems.HasErrors()

	renderer, ps := render.New(ctx, f, assignments, configuration)
	problems = append(problems, ps...)

	files, ps := tree.Build(ctx, assignments, renderer, progress)

	result := &Result{AssignmentsKnown: decided}
	if err := ctx.Err(); err != nil { // what was under way failed for no other reason
		stopped := fleet.Problem{Summary: "Rendering was stopped", Detail: err.Error() + ".", Err: err}
		return result, append(problems, stopped)
	}
	problems = append(problems, ps...)
	if decided && valid {
		result.Schedule, result.Configuration = assignments, configuration
	}
	if decided && !problems.HasErrors() {
		result.Tree = files
	}
	problems.Sort()
	return result, problems
}
