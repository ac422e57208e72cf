package rendering

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// ModifyPlan plans every computed attribute. Terraform calls it again during apply. So planned values that are known
// depend on the configuration, the prior state and the private state alone. It reads the branch only for errors and
// warnings.
func (r *environmentRendering) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	diags := &resp.Diagnostics
	defer r.Data.TranslatePullRequest(ctx, configuration.Either(req.Plan, req.State), configuration.GitopsRepoURL, diags)
	state := schemas.GetState[environmentRenderingModel](ctx, req.State, diags)
	if diags.HasError() {
		return
	}
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, state, resp.Private, diags)
		return
	}
	plan := schemas.Get[environmentRenderingModel](ctx, req.Plan, diags)
	if plan == nil || r.planNothing(ctx, req.Private, plan, state, diags) {
		return
	}
	var before *past.State
	var step *rollout.Step
	configured := *plan
	defer func() { configured.explainErrors(diags, wouldDo, before, step) }()
	prior := state.prior()
	if state != nil { // after a refresh that found nothing, Terraform still passes the private state
		before = readDelivery(ctx, prior, diags)
	}
	if diags.HasError() {
		return
	}
	limit := timeouts.Value.Create
	if state != nil {
		limit = timeouts.Value.Update
	}
	// A plan takes no longer than its apply may take.
	ctx, cancel := schemas.Within(ctx, plan.Timeouts, limit, schemas.WriteTimeout, diags)
	defer cancel()
	rendered, found := r.render(ctx, plan, prior, before)
	decision, ps := decide(rendered, found, prior, before)
	if tfvalue.AppendProblems(diags, ps); diags.HasError() {
		return
	}
	before, step = decision.Before, decision.Step
	giver := feedbackGiver{r.Data, req.Private, state, diags}
	feedback := giver.plan(ctx, decision)
	plan.plan(ctx, decision, state, diags)
	giver.set(plan, feedback)
	if r.check(ctx, decision, diags); diags.HasError() {
		return
	}
	if state == nil && tfvalue.WhollyKnown(plan.Guardrails) {
		tfvalue.AppendProblems(diags, report.Guardrails(decision.Applied.Wish))
	}
	diags.Append(resp.Plan.Set(ctx, plan)...)
	if r.Data != nil {
		a := plan.arguments()
		r.Data.LastPlans.Keep(a.Environment, a.Destination, *plan, decision, found)
	}
}

// destroyPlannedKey is a key in private state. A plan that destroys the rendering sets it, and Terraform passes it to
// the destroy. If Terraform replaces the resource, its plan shows a create, so the destroy finds no key.
const destroyPlannedKey = "destroy_planned"

// planDestroy reports the folders that a destroy removes, or why the rendering must not be destroyed. state may be nil
// after an error.
func (r *environmentRendering) planDestroy(
	ctx context.Context, state *environmentRenderingModel, private schemas.PrivateState, diags *diag.Diagnostics,
) {
	if state == nil {
		return
	}
	before := readDelivery(ctx, state.prior(), diags)
	arguments := state.arguments()
	tfvalue.AppendProblems(diags, check.PlanDestroy(arguments, before))
	if r.Data != nil {
		if err := r.Data.Claims.PlanDestroy(arguments); err != nil {
			configuration.AppendDeliveryError(diags, arguments.Destination, err)
		}
	}
	diags.Append(private.SetKey(ctx, destroyPlannedKey, []byte("true"))...)
	state.explainErrors(diags, did, before, nil)
}

// render converts the arguments of a plan, and renders the fleet. It returns the problems of both.
func (r *environmentRendering) render(
	ctx context.Context, plan *environmentRenderingModel, prior *past.Prior, before *past.State,
) (*next.Rendered, problem.Problems) {
	arguments, ps := plan.readArguments(ctx, r.Data)
	rendered := next.NewRendered(arguments, nil)
	if !arguments.NoCommit {
		tflog.Info(ctx, "rendering the fleet", map[string]any{"environment": arguments.Environment})
		var found problem.Problems
		rendered, found = delivery.Render(ctx, arguments, prior, before, logProgress(ctx, logEvery))
		if arguments.WritesNothing(prior) {
			found = found.AsWarnings() // none of the tree is written now
		}
		ps = append(ps, found...)
	}
	rendered.Secrets.Hide(ps)
	return rendered, ps
}

// decide decides what the apply of a rendered fleet does. It adds the decision's problems to those of the fleet. The
// decision is nil if there are errors.
func decide(
	rendered *next.Rendered, found problem.Problems, prior *past.Prior, before *past.State,
) (*delivery.Decision, problem.Problems) {
	if found.HasErrors() {
		return nil, slices.Concat(found, check.ClearSecrets(rendered, before))
	}
	decision := delivery.Decide(rendered, prior, before)
	return decision, slices.Concat(found, decision.ClearSecrets(before))
}

// plan plans every computed attribute, and warns of what a reviewer of the plan must know.
func (m *environmentRenderingModel) plan(
	ctx context.Context, decision *delivery.Decision, state *environmentRenderingModel, diags *diag.Diagnostics,
) {
	problems := report.Decision(decision)
	switch {
	case decision.Action == delivery.Nothing:
		tfvalue.AppendProblems(diags, problems)
		m.setNothing(decision.Applied.Wish)
	case decision.IdleReason != "":
		tfvalue.AppendProblems(diags, problems)
		m.keepArguments(ctx, decision, state)
		m.keepComputed(state)
		if decision.Action == delivery.Withhold {
			m.PullRequest = types.ObjectUnknown(schemas.PullRequestTypes) // Terraform doesn't apply a plan without a change
		}
	default:
		if err := m.setRendered(decision.Applied, decision, state); err != nil {
			diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
			return
		}
		appendRollout(diags, decision)
		if m.preview() == previewNone { // no attribute shows them
			problems = append(problems, report.RemovedFolders(decision)...)
		}
		tfvalue.AppendProblems(diags, problems)
		m.planResults(ctx, decision, state)
		if err := ctx.Err(); err != nil { // the description may lack lines
			tfvalue.AppendProblems(diags, problem.Problems{fleet.StoppedProblem(err)})
		}
	}
}

// check reports problems of the apply that the state can't show: conflicts with other renderings, missing credentials,
// and the contents of the branch.
func (r *environmentRendering) check(ctx context.Context, decision *delivery.Decision, diags *diag.Diagnostics) {
	if r.Data == nil {
		return
	}
	applied := decision.Applied
	fail := func(err error) {
		if err != nil {
			configuration.AppendDeliveryError(diags, applied.Wish.Destination, err)
		}
	}
	fail(r.Data.Claims.Plan(applied.Wish, claimedTree(applied), decision.Prior == nil))
	if !r.Data.Known {
		return
	}
	remote := r.remote(ctx)
	fail(remote.CheckHost(applied.Wish))
	if applied.Wish.Strategy == strategy.PullRequest && decision.Action != delivery.Keep {
		r.Data.CheckCredential(applied.Wish.Destination.Repo, diags)
	}
	if diags.HasError() {
		return
	}
	for _, err := range remote.CheckSettings(ctx, decision) {
		fail(err)
	}
	checked, err := remote.Check(ctx, decision)
	tfvalue.AppendProblems(diags, report.Checked(decision, checked))
	fail(err)
}

// claimedTree returns the hash of the fleet's tree; "" if it is not known yet.
func claimedTree(applied *next.Next) string {
	if applied.Known < inventory.Whole {
		return ""
	}
	return applied.Rendered.Tree.Hash.String()
}
