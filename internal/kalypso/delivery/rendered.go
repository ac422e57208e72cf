package delivery

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Progress receives the progress of long work. A total of 0 means that the total is not known.
type Progress func(stage string, done, total int)

// Rendered is the result of rendering a fleet. It is never modified.
type Rendered struct {
	Args *Arguments
	Tree *tree.Tree // nil if it was not rendered, or if no assignments are known yet

	Folders     inventory.Folders   // of the tree
	Assignments inventory.Known     // how many of the assignments are known
	Failed      problem.Problems    // why deployment targets are not in the tree
	Requires    *requires.Index     // finds what satisfies the requirements of the assignments
	Decisions   placement.Decisions // nil if they are not known yet
	Secrets     ClearSecrets        // in the configs
}

// NewRendered returns the rendering of a fleet to a tree, or to none if the tree is nil.
func NewRendered(a *Arguments, t *tree.Tree) *Rendered {
	r := &Rendered{Args: a, Tree: t}
	if t == nil {
		return r
	}
	r.Folders = inventory.Of(t)
	if t.Schedule != nil && r.DecisionsKnown() {
		r.Decisions = t.Schedule.Decisions()
	}
	return r
}

// Render renders the fleet. It reports the problems of the fleet, and what the guardrails forbid.
//
// p and s say what was delivered before, so that placement keeps its decisions. For a create, both are nil.
func Render(
	ctx context.Context, a *Arguments, p *Prior, s *State, progress Progress,
) (*Rendered, problem.Problems) {
	prior, ps := priorPlacement(a.Fleet, p, s)
	if len(ps) > 0 {
		return NewRendered(a, nil), ps
	}
	options := engine.Options{
		PriorPlacement: prior, LeaveOutFailed: a.KeepFailed, Duplicates: a.Guardrails.DuplicateObjects,
		Invalid: a.Guardrails.InvalidObjects, Requires: a.Guardrails.Requires, Delivered: s.LastFolders().HashOf,
		Progress: func(done, total int) { progress("render", done, total) },
	}
	if s.Readable() && (CaseOf(a, s) == Update || a.Strategy == destination.None) && s.Environment == a.Environment {
		existing := s.OwnFolders()
		options.OnBranch = func(clusterType, target string) bool { return existing.HashOf(clusterType, target) != nil }
	}
	f := *a.Fleet // a run marks the targets that it refuses
	result, ps := engine.Run(ctx, &f, options)
	r := NewRendered(a, result.Tree)
	r.Failed, r.Requires, r.Secrets = result.LeftOut, result.Requires, FindClearSecrets(f.Configs)
	if !result.AssignmentsKnown {
		r.Assignments = inventory.Partial
	}
	r.Secrets.Hide(r.Failed)
	return r, append(ps, checkTree(ctx, r)...)
}

// Unscheduled returns the names of the deployment targets that no policy assigns, in the order of the schedule.
func (r *Rendered) Unscheduled() []string { return explain.UnplacedNames(r.Tree.Schedule) }

// Policies returns the names of the policies that place a target on a cluster type.
func (r *Rendered) Policies(clusterType, target string) (names []string) {
	if i, n, ok := r.Tree.Assignment(clusterType, target); ok {
		for _, p := range r.Tree.Schedule.Placements[i].Assignments[n].Policies {
			names = append(names, p.Name)
		}
	}
	return names
}

// RequiredBeside returns the names of the targets on a cluster type that a target requires there.
func (r *Rendered) RequiredBeside(clusterType, target string) (names []string) {
	if i, n, ok := r.Tree.Assignment(clusterType, target); ok {
		all, _ := r.Requires.Satisfying(i, n)
		for _, required := range all {
			names = append(names, required.Name)
		}
	}
	return names
}

// priorPlacement returns the earlier decisions of placement. If they can't be read, it refuses a fleet that keeps its
// decisions.
func priorPlacement(
	f *fleet.Fleet, p *Prior, s *State,
) (prior placement.PriorResults, problems problem.Problems) {
	if p == nil || !schedule.Places(f) {
		return prior, nil
	}
	earlier, known := s.earlier()
	switch {
	case known:
		return earlier, nil
	case p.Commit != "" && schedule.KeepsEarlier(f):
		return prior, problem.Problems{{
			Summary: "Earlier placement decisions can't be read",
			Detail: "The private state of the rendering is missing, or another version of the provider wrote it. Without the " +
				"earlier decisions, placement would decide again and move deployment targets. Plan with a refresh, which reads " +
				"them from the record on the branch. If that does not help, remove the rendering from the state with \"terraform " +
				"state rm\" and import it.",
		}}
	}
	return placement.PriorResults{Placed: p.Placed}, nil
}

// DecisionsKnown reports whether no decision depends on values that are not known yet.
func (r *Rendered) DecisionsKnown() bool {
	if r.Tree.Schedule == nil {
		return true
	}
	_, all := r.Tree.Schedule.Known()
	return all && r.Tree.Schedule.DecisionsKnown()
}
