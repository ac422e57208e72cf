package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// ModifyPlan plans every computed attribute. Terraform calls it again during apply, so that what it plans as known
// follows from the configuration, the prior state and private state alone; the branch is read for errors.
func (r *environmentRendering) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	diags := &resp.Diagnostics
	var state *environmentRenderingModel
	if !req.State.Raw.IsNull() {
		if state = readModel(ctx, req.State, diags); state == nil {
			return
		}
	}
	if req.Plan.Raw.IsNull() {
		if state != nil && state.protected() {
			appendProtection(diags, state)
		}
		return
	}
	plan := readModel(ctx, req.Plan, diags)
	var before *delivery.State
	if state != nil { // after a refresh that found nothing, Terraform hands in the private state of before
		before = readDelivery(ctx, req.Private, state, diags)
	}
	if diags.HasError() {
		return
	}
	limit := timeouts.Value.Create
	if state != nil {
		limit = timeouts.Value.Update
	}
	ctx, cancel := plan.within(ctx, limit, writeTimeout, diags) // a plan takes no longer than its apply may take
	defer cancel()
	rendering, ps := plan.rendering(ctx, r.data)
	ps = append(ps, rendering.runAfter(ctx, state, before)...)
	appendProblems(diags, rendering.judgeSecrets(ps, state.prior(), before))
	if diags.HasError() {
		return
	}
	decision := delivery.Decide(rendering.Desired, state.prior(), before)
	if err := plan.setRendered(rendering, state); err != nil {
		diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
		return
	}
	r.claim(rendering, state == nil, diags)
	r.checkReviewers(rendering.Desired, diags)
	r.planDelivery(ctx, rendering, decision, plan, state, before, diags)
	if diags.HasError() {
		return
	}
	diags.Append(resp.Plan.Set(ctx, plan)...)
	if r.data != nil {
		r.data.lastPlan.keep(plan, rendering)
	}
}

// contacts reports whether anything may be contacted.
func (r *environmentRendering) contacts() bool { return r.data != nil && r.data.known }

// planDelivery plans what becomes of the tree, and reports what there is to say about it. state is nil for a create.
func (r *environmentRendering) planDelivery(
	ctx context.Context, o *rendering, decision *delivery.Decision, plan, state *environmentRenderingModel, before *delivery.State,
	diags *diag.Diagnostics,
) {
	appendRollout(diags, o, decision)
	for _, err := range decision.Errors {
		appendDeliveryError(diags, o.Destination, err)
	}
	appendAdoption(diags, o.Destination, decision.Adoption)
	appendReplaced(diags, o.Desired, decision, before)
	if decision.Action == delivery.Keep {
		plan.keep(state, o, before)
		plan.keepObserved(ctx, state)
		appendAbandoned(diags, o.Desired, before)
		return
	}
	if decision.Action == delivery.RemoveOld {
		plan.keep(state, o, before)
		plan.PullRequest = types.ObjectUnknown(pullRequestTypes) // a plan without a change would not be applied
		appendOldPlaces(diags, o.Desired, decision)
		return
	}
	if o.Strategy == delivery.PullRequest && r.contacts() {
		r.data.checkGitHubCredential(diags)
	}
	plan.planResults(o)
	if plan.Description.IsUnknown() && decision.Comparable && o.describable() {
		plan.Description = types.StringValue(o.Describe(before))
	}
	if state != nil {
		appendProblems(diags, delivery.CheckMoves(o.Moves(before), o.moved))
	}
	reaction := o.onDrift
	if reaction == driftOverwrite && len(decision.Errors) > 0 {
		reaction = driftNamed
	}
	for _, s := range decision.Drift {
		appendDrift(diags, reaction, s)
	}
	appendLeft(diags, decision, before)
	appendOldPlaces(diags, o.Desired, decision)
	if decision.Unreadable && r.contacts() {
		before = r.recoverForPlan(ctx, o, state, diags)
	}
	if decision.Check {
		r.check(ctx, o, before, diags)
	}
}

// claim reports another rendering of the configuration whose folders would lie in this one's.
func (r *environmentRendering) claim(o *rendering, create bool, diags *diag.Diagnostics) {
	if r.data == nil || !o.Delivers() || !o.Located() || anyUnknown(o.Environment) {
		return
	}
	c := claim{at: o.Destination, environment: o.Environment, create: create}
	if o.Known() {
		c.tree = o.Tree.Hash.String()
	}
	if other, ok := r.data.claims.plan(c); !ok {
		diags.AddAttributeError(path.Root("gitops_repo"), "Two renderings at one place",
			fmt.Sprintf("Another rendering of this configuration goes to path %q of the same branch, this one to %q: %s. Choose paths beside each other.",
				other, o.Destination.Path, delivery.ErrNested))
	}
}

// check reads the destination for errors: whether the branch exists, and whether what it holds may be written.
func (r *environmentRendering) check(
	ctx context.Context, o *rendering, before *delivery.State, diags *diag.Diagnostics,
) {
	if !r.contacts() || diags.HasError() {
		return
	}
	if o.Strategy == delivery.PullRequest {
		if pulls := pullRequests(r.data.hostFor(diags), o.Desired); pulls != nil {
			found, err := pulls.Check(ctx, r.data.Client, o.Desired, before)
			if err != nil {
				appendDeliveryError(diags, o.Destination, err)
			}
			appendTakenUp(diags, o.Destination, found)
		}
	}
	change, err := delivery.Check(ctx, r.data.Client, o.Desired, before)
	if err != nil {
		appendDeliveryError(diags, o.Destination, err)
		return
	}
	appendBranchChange(diags, o.Destination, change)
}

// checkReviewers reports whom the host can't ask for a review.
func (r *environmentRendering) checkReviewers(d *delivery.Desired, diags *diag.Diagnostics) {
	if d.Strategy != delivery.PullRequest || d.Incomplete || len(d.PullRequest.Reviewers) == 0 || !r.contacts() {
		return
	}
	pulls := pullRequests(r.data.hostFor(diags), d)
	if pulls == nil {
		return
	}
	if err := pulls.CheckReviewers(d.Destination); err != nil && !errors.Is(err, hosting.ErrOtherHost) {
		diags.AddAttributeError(path.Root("delivery"), "Reviewers that can't be asked", fleet.Sentence(err))
	}
}

// recoverState reads from the branch what private state would have, where that is of another version of the provider. Read
// writes it anew; without a refresh, plan and apply see to it that nothing of others is overwritten unseen.
func (r *environmentRendering) recoverState(ctx context.Context, state *environmentRenderingModel) (*delivery.State, error) {
	d := state.desired()
	p := state.prior()
	if p.Commit == "" || d.Strategy != delivery.Push && !state.Delivered.ValueBool() { // the tree may only have been proposed
		return delivery.Import(ctx, r.data.Client, d.Destination, d.Environment)
	}
	return delivery.Recover(ctx, r.data.Client, d.Destination, d.Environment, p.TreeHash, p.Commit)
}

// recoverForPlan is recoverState for a change that is planned: what others did meanwhile is reported. It returns nil where
// nothing of ours is there any more.
func (r *environmentRendering) recoverForPlan(
	ctx context.Context, o *rendering, state *environmentRenderingModel, diags *diag.Diagnostics,
) *delivery.State {
	s, err := r.recoverState(ctx, state)
	gone := errors.Is(err, gitops.ErrBranchNotFound) || errors.Is(err, delivery.ErrNoRendering)
	switch {
	case err != nil && !gone:
		appendDeliveryError(diags, o.Destination, err)
	case s != nil && s.Drifted():
		appendDrift(diags, o.onDrift, s)
	}
	if gone {
		return nil
	}
	return s
}
