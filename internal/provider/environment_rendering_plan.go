package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
)

// ModifyPlan plans every computed attribute. Terraform calls it again during apply. So planned values that are known
// depend on the configuration, the prior state and the private state alone. It reads the branch only for errors and
// warnings.
func (r *environmentRendering) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	diags := &resp.Diagnostics
	var state *environmentRenderingModel
	if !req.State.Raw.IsNull() {
		state = readModel(ctx, req.State, diags)
	}
	if diags.HasError() {
		return
	}
	if req.Plan.Raw.IsNull() {
		if state != nil {
			before := readDelivery(ctx, req.Private, state, diags)
			appendProblems(diags, state.desired(ctx).PlanDestroy(before))
			state.explainStateErrors(ctx, diags, before)
		}
		return
	}
	plan := readModel(ctx, req.Plan, diags)
	if plan == nil {
		return
	}
	var before *delivery.State
	var step *rollout.Step
	configured := *plan
	defer func() { configured.explainErrors(ctx, diags, before, step) }()
	if state != nil { // after a refresh that found nothing, Terraform still passes the private state
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
	prior := state.prior(ctx)
	rendering, ps := plan.rendering(ctx, r.data)
	if !rendering.NoCommit {
		found := rendering.Render(ctx, prior, before, logProgress(ctx, logEvery))
		if rendering.Rests(prior) {
			found = found.AsWarnings() // nothing of it is written now
		}
		ps = rendering.CheckSecrets(append(ps, found...), prior, before)
	}
	appendProblems(diags, ps)
	if diags.HasError() {
		return
	}
	before = rendering.Accept(prior, before)
	decision := delivery.Decide(rendering.Desired, prior, before) // first, since it decides on the tree of this apply
	step = decision.Rollout
	problems := decision.Problems(rendering.Desired, before)
	switch {
	case decision.Action == delivery.Nothing:
		appendProblems(diags, problems)
		plan.setNothing(rendering)
	case rendering.Rests(prior):
		appendProblems(diags, problems)
		plan.rest(state, decision)
	default:
		if err := plan.setRendered(ctx, rendering, state); err != nil {
			diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
			return
		}
		appendRollout(diags, rendering.Desired, decision)
		appendProblems(diags, problems)
		plan.planResults(ctx, rendering.Desired, decision, state, before)
	}
	r.check(ctx, rendering.Desired, prior, before, decision, diags)
	if diags.HasError() {
		return
	}
	diags.Append(resp.Plan.Set(ctx, plan)...)
	if r.data != nil {
		r.data.lastPlan.keep(plan, rendering)
	}
}

// check reports what the state does not know about the apply: other renderings, missing credentials, and the contents
// of the branch.
func (r *environmentRendering) check(
	ctx context.Context, d *delivery.Desired, prior *delivery.Prior, before *delivery.State, decision *delivery.Decision,
	diags *diag.Diagnostics,
) {
	if r.data == nil {
		return
	}
	fail := func(err error) {
		if err != nil {
			appendDeliveryError(diags, d.Destination, err)
		}
	}
	fail(r.data.claim(d, prior == nil))
	if !r.data.known {
		return
	}
	remote := r.remote(ctx)
	fail(remote.CheckReviewers(d))
	if d.Strategy == delivery.PullRequest && decision.Action != delivery.Keep {
		r.data.checkGitHubCredential(diags)
	}
	if diags.HasError() {
		return
	}
	warnings, err := remote.Check(ctx, d, prior, before, decision)
	appendProblems(diags, warnings)
	fail(err)
}
