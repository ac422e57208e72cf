package rendering

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// plan plans every computed attribute. It reads the branch only for errors and warnings.
func plan(ctx context.Context, c *schemas.Call) schemas.Model {
	if planNothing(ctx, c) {
		return nil
	}
	var before *past.State
	var step *rollout.Step
	configured := maps.Clone(c.Plan)
	defer func() { explainErrors(configured, c.Diags, wouldDo, before, step) }()
	prior, limit := priorOf(c.State), timeouts.Value.Create
	if c.State != nil { // after a refresh that found nothing, Terraform still passes the private state
		before, limit = readDelivery(ctx, prior, c.Diags), timeouts.Value.Update
	}
	if c.Diags.HasError() {
		return nil
	}
	// A plan takes no longer than its apply may take.
	ctx, cancel := c.Within(ctx, limit, schemas.WriteTimeout)
	defer cancel()
	rendered, found := render(ctx, c.Data, c.Plan, prior, before)
	decision, ps := decide(rendered, found, prior, before)
	if tfvalue.AppendProblems(c.Diags, ps); c.Diags.HasError() {
		return nil
	}
	before, step = decision.Before, decision.Step
	feedback := planFeedback(ctx, c, decision)
	planComputed(ctx, c.Plan, decision, c.State, c.Diags)
	setFeedback(c, feedback)
	if checkBranch(ctx, c, decision); c.Diags.HasError() {
		return nil
	}
	if c.State == nil && tfvalue.WhollyKnown(c.Plan["guardrails"]) {
		tfvalue.AppendProblems(c.Diags, listGuardrails(decision.Applied.Wish.Guardrails))
	}
	if c.Data != nil {
		a := decodeArguments(c.Plan.Decoder())
		c.Data.LastPlans.Keep(a.Environment, a.Destination, c.Plan, decision, found)
	}
	return c.Plan
}

// guardrailValues returns the guardrails with their defaults, by the names of the arguments.
func guardrailValues(g wish.Guardrails) tfvalue.Values {
	g.MaxRemoved, g.MaxKept = g.RemovedLimit().String(), g.KeptLimit().String()
	return tfvalue.ValuesOf(g)
}

// listGuardrails lists the guardrails of a new rendering, so that a reader of the first plan sees which changes will be
// refused. It also shows a misspelled name, since Terraform drops such a guardrail before the provider sees it.
func listGuardrails(g wish.Guardrails) problem.Problems {
	var values []string // in the order of the first guardrail with each
	all, names := guardrailValues(g), map[string][]string{}
	for _, name := range tfvalue.NamesOf(&g) {
		value := fmt.Sprint(all[name])
		if names[value] == nil {
			values = append(values, value)
		}
		names[value] = append(names[value], name)
	}
	for i, value := range values {
		values[i] = strings.Join(names[value], ", ") + " = " + value
	}
	return problem.Problems{problem.WarningAt("Guardrails of the new rendering", strings.Join(values, "; ")+".",
		"guardrails")}
}

// destroyPlannedKey is a key in private state. A plan that destroys the rendering sets it, and Terraform passes it to
// the destroy. If Terraform replaces the resource, its plan shows a create, so the destroy finds no key.
const destroyPlannedKey = "destroy_planned"

// planDestroy reports the folders that a destroy removes, or why the rendering must not be destroyed.
func planDestroy(ctx context.Context, c *schemas.Call) {
	if c.State == nil {
		return
	}
	before := readDelivery(ctx, priorOf(c.State), c.Diags)
	arguments := decodeArguments(c.State.Decoder())
	tfvalue.AppendProblems(c.Diags, check.PlanDestroy(arguments, before))
	if c.Data != nil {
		if err := c.Data.Claims.PlanDestroy(arguments); err != nil {
			configuration.AppendDeliveryError(c.Diags, arguments.Destination, err)
		}
	}
	c.Diags.Append(c.Private.SetKey(ctx, destroyPlannedKey, []byte("true"))...)
	explainErrors(c.State, c.Diags, did, before, nil)
}

// render converts the arguments of a plan, and renders the fleet. It returns the problems of both.
func render(
	ctx context.Context, data *configuration.Data, plan schemas.Model, prior *past.Prior, before *past.State,
) (*next.Rendered, problem.Problems) {
	arguments, ps := readArguments(ctx, plan, data)
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
	if decision.NamesUnscheduled() {
		found = slices.DeleteFunc(slices.Clone(found), check.IsUnscheduled)
	}
	return decision, slices.Concat(found, decision.ClearSecrets(before))
}

// planComputed plans every computed attribute, and warns of what a reviewer of the plan must know.
func planComputed(
	ctx context.Context, m schemas.Model, decision *delivery.Decision, state schemas.Model, diags *diag.Diagnostics,
) {
	problems := report.Decision(decision)
	switch {
	case decision.Action == delivery.Nothing:
		tfvalue.AppendProblems(diags, problems)
		setNothing(m, decision.Applied.Wish)
	case decision.IdleReason != "":
		tfvalue.AppendProblems(diags, problems)
		keepArguments(m, decision, state)
		m.Keep(state, computed...)
		if decision.Action == delivery.Withhold {
			m.SetUnknown("pull_request") // Terraform doesn't apply a plan without a change
		}
	default:
		if err := setRendered(m, decision.Applied, decision, state); err != nil {
			diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
			return
		}
		appendRollout(diags, decision)
		if previewOf(m) == previewNone { // no attribute shows them
			problems = append(problems, report.RemovedFolders(decision)...)
		}
		tfvalue.AppendProblems(diags, problems)
		planResults(ctx, m, decision, state)
		if err := ctx.Err(); err != nil { // the description may lack lines
			tfvalue.AppendProblems(diags, problem.Problems{fleet.StoppedProblem(err)})
		}
	}
}

// checkBranch reports problems of the apply that the state can't show: conflicts with other renderings, missing
// credentials, and the contents of the branch.
func checkBranch(ctx context.Context, c *schemas.Call, decision *delivery.Decision) {
	if c.Data == nil {
		return
	}
	applied := decision.Applied
	fail := func(err error) {
		if err != nil {
			configuration.AppendDeliveryError(c.Diags, applied.Wish.Destination, err)
		}
	}
	fail(c.Data.Claims.Plan(applied.Wish, claimedTree(applied), decision.Prior == nil))
	if !c.Data.Known {
		return
	}
	remote := operations(ctx, c.Data)
	fail(remote.CheckHost(applied.Wish))
	if applied.Wish.Strategy == strategy.PullRequest && decision.Action != delivery.Keep {
		c.Data.CheckCredential(applied.Wish.Destination.Repo, c.Diags)
	}
	if c.Diags.ErrorsCount() > len(decision.Refused()) { // not only refusals that accepted_changes can allow
		return
	}
	for _, err := range remote.CheckSettings(ctx, decision) {
		fail(err)
	}
	checked, err := remote.Check(ctx, decision)
	tfvalue.AppendProblems(c.Diags, report.Checked(decision, checked))
	fail(err)
}

// claimedTree returns the hash of the fleet's tree; "" if it is not known yet.
func claimedTree(applied *next.Next) string {
	if applied.Known < inventory.Whole {
		return ""
	}
	return applied.Rendered.Tree.Hash.String()
}
