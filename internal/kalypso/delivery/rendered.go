package delivery

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Progress receives the progress of long work. A total of 0 means that the total is not known.
type Progress func(stage string, done, total int)

// Rendered is the result of rendering a fleet. It is never modified.
type Rendered struct {
	*Arguments
	Tree *tree.Tree // nil if it was not rendered, or if no assignments are known yet

	assignmentsKnown bool
	failed           problem.Problems    // why deployment targets are not in the tree
	inventory        inventory.Folders   // of the tree
	decisions        placement.Decisions // nil if they are not known yet
	secrets          ClearSecrets        // in the configs
}

// NewRendered returns the rendering of a fleet to a tree, or to none if the tree is nil.
func NewRendered(a *Arguments, t *tree.Tree) *Rendered {
	r := &Rendered{Arguments: a, Tree: t}
	if t == nil {
		return r
	}
	r.inventory = inventory.Of(t)
	if t.Schedule != nil && r.decisionsKnown() {
		r.decisions = t.Schedule.Decisions()
	}
	return r
}

// Render renders the fleet. It reports the problems of the fleet, and what the guardrails forbid.
//
// p and s say what was delivered before, so that placement keeps its decisions. For a create, both are nil.
func Render(ctx context.Context, a *Arguments, p *Prior, s *State, progress Progress) (*Rendered, problem.Problems) {
	f := *a.Fleet
	if ps := setEarlier(&f, p, s); len(ps) > 0 {
		return NewRendered(a, nil), ps
	}
	f.LeaveOutFailed = a.KeepsFailed()
	f.Duplicates, f.Invalid = a.Guardrails.DuplicateObjects, a.Guardrails.InvalidObjects
	f.Delivered = lastTree(s).HashOf
	result, ps := engine.Run(ctx, &f, func(done, total int) { progress("render", done, total) })
	r := NewRendered(a, result.Tree)
	r.failed, r.secrets = result.LeftOut, FindClearSecrets(f.Configs)
	r.assignmentsKnown = result.AssignmentsKnown && result.Tree != nil
	r.secrets.Hide(r.failed)
	return r, append(ps, r.validateTree(ctx, result.AssignmentsKnown)...)
}

// HideSecrets removes the config values that are plainly secrets from problems.
func (r *Rendered) HideSecrets(ps problem.Problems) { r.secrets.Hide(ps) }

// AssignmentsKnown reports whether the tree is rendered, and the assignments of all cluster types are known.
func (r *Rendered) AssignmentsKnown() bool { return r.assignmentsKnown }
