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
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// plan plans every computed attribute. It reads the branch only for errors and warnings.
func plan(ctx context.Context, c *resources.Call) resources.Model {
	if planNothing(ctx, c) {
		tflog.Info(ctx, "nothing to do: all inputs are those of the last apply")
		return nil
	}
	configured := maps.Clone(c.Plan)
	p, before := planChange(ctx, c)
	if c.Diags.HasError() {
		explainErrors(configured, c.Diags, wouldDo, before, stepOf(p))
		return nil
	}
	return c.Plan
}

// planChange renders the fleet, decides on the apply, and shows that in the plan of the call. It returns the decision,
// or nil, and the last delivery, or nil.
func planChange(ctx context.Context, c *resources.Call) (p delivery.Plan, before *delivery.State) {
	prior, limit := priorOf(c.State), timeouts.Value.Create
	if c.State != nil { // after a refresh that found nothing, Terraform still passes the private state
		before, limit = readDelivery(c, prior), timeouts.Value.Update
	}
	if c.Diags.HasError() {
		return nil, before
	}
	// A plan takes no longer than its apply may take.
	ctx, cancel := c.Within(ctx, limit, resources.WriteTimeout)
	defer cancel()
	rendered, found := render(ctx, c.Data, c.Plan, prior, before)
	p, ps := decide(rendered, found, prior, before)
	tfvalue.AppendProblems(c.Diags, ps)
	if c.Diags.HasError() {
		return nil, before
	}
	tflog.Info(ctx, delivery.Reason(p), map[string]any{"environment": p.All().Args.Environment})
	feedback, tells := planFeedback(ctx, c, p)
	show(ctx, c.Plan, p, c.State, tells, c.Diags)
	setFeedback(c, feedback)
	checkBranch(ctx, c, p)
	if !c.Diags.HasError() && c.State == nil && tfvalue.WhollyKnown(c.Plan["guardrails"]) {
		tfvalue.AppendProblems(c.Diags, listGuardrails(p.All().Args.Guardrails))
	}
	if c.Data != nil && !c.Diags.HasError() {
		a := decodeArguments(c.Plan.Decoder())
		c.Data.LastPlans.Keep(a.Environment, a.Destination, c.Plan, p, found)
	}
	return p, p.All().State
}

// guardrailValues returns the guardrails with their defaults, by the names of the arguments.
func guardrailValues(g delivery.Guardrails) tfvalue.Values {
	g.MaxRemoved, g.MaxKept = g.RemovedLimit().String(), g.KeptLimit().String()
	return tfvalue.ValuesOf(g)
}

// listGuardrails lists the guardrails of a new rendering, so that a reader of the first plan sees which changes will be
// refused. It also shows a misspelled name, since Terraform drops such a guardrail before the provider sees it.
func listGuardrails(g delivery.Guardrails) problem.Problems {
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
	return problem.Problems{problem.WarningAt("Guardrails of the new rendering",
		"Shown once, since Terraform drops a misspelled name in silence: "+strings.Join(values, "; ")+".", "guardrails")}
}

// destroyPlannedKey is a key in private state. A plan that destroys the rendering sets it, and Terraform passes it to
// the destroy. If Terraform replaces the resource, its plan shows a create, so the destroy finds no key.
const destroyPlannedKey = "destroy_planned"

// planDestroy reports the folders that a destroy removes, or why the rendering must not be destroyed.
func planDestroy(ctx context.Context, c *resources.Call) {
	if c.State == nil {
		return
	}
	before := readDelivery(c, priorOf(c.State))
	arguments := decodeArguments(c.State.Decoder())
	tfvalue.AppendProblems(c.Diags, delivery.PlanDestroy(arguments, before))
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
	ctx context.Context, data *configuration.Data, plan resources.Model, prior *delivery.Prior, before *delivery.State,
) (*delivery.Rendered, problem.Problems) {
	arguments, ps := readArguments(ctx, plan, data)
	rendered := delivery.NewRendered(arguments, nil)
	if !arguments.NoCommit {
		tflog.Info(ctx, "rendering the fleet", map[string]any{"environment": arguments.Environment})
		var found problem.Problems
		rendered, found = delivery.Render(ctx, arguments, prior, before, logProgress(ctx, logEvery))
		if arguments.Stopped(prior) {
			found = found.AsWarnings() // none of the tree is written now
		}
		ps = append(ps, found...)
	}
	rendered.Secrets.Hide(ps)
	return rendered, ps
}

// decide plans the apply of a rendered fleet. It adds the plan's problems to those of the fleet. The plan is nil if
// there are errors.
func decide(
	rendered *delivery.Rendered, found problem.Problems, prior *delivery.Prior, before *delivery.State,
) (delivery.Plan, problem.Problems) {
	if found.HasErrors() {
		return nil, slices.Concat(found, delivery.CheckClearSecrets(rendered, before))
	}
	p := delivery.Decide(rendered, prior, before)
	if delivery.NamesUnscheduled(p) {
		found = slices.DeleteFunc(slices.Clone(found), delivery.IsUnscheduled)
	}
	if w, writes := p.(*delivery.Write); writes {
		found = slices.Concat(found, delivery.EmptiedValues(w.Args.Fleet, w.State))
	}
	return p, slices.Concat(found, delivery.PlannedClearSecrets(p))
}

// show plans every computed attribute, and the arguments that keep their values. It warns of what a reviewer of the
// plan must know. tells says that the apply tells teams of their workloads.
func show(
	ctx context.Context, m resources.Model, plan delivery.Plan, state resources.Model, tells bool, diags *diag.Diagnostics,
) {
	problems := report.Plan(plan)
	v, err := planned(ctx, m, state, plan)
	if err != nil {
		diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
		return
	}
	appendRollout(diags, plan)
	if previewOf(m) == previewNone && plan.All().Stop == nil { // no attribute shows them
		problems = append(problems, report.RemovedFolders(plan)...)
	}
	tfvalue.AppendProblems(diags, problems)
	keepArguments(m, state, plan, tells)
	v.into(m, state)
	if err := ctx.Err(); err != nil && plan.All().Stop == nil { // the description may lack lines
		tfvalue.AppendProblems(diags, problem.Problems{fleet.StoppedProblem(err)})
	}
}

// checkBranch reports problems of the apply that the state can't show: conflicts with other renderings, missing
// credentials, and the contents of the branch.
func checkBranch(ctx context.Context, c *resources.Call, p delivery.Plan) {
	if c.Data == nil {
		return
	}
	next := p.All().Next
	fail := func(err error) {
		if err != nil {
			configuration.AppendDeliveryError(c.Diags, next.Args.Destination, err)
		}
	}
	fail(c.Data.Claims.Plan(next.Args, claimedTree(next), p.All().Prior == nil))
	if !c.Data.Known {
		return
	}
	remote := operations(ctx, c.Data)
	fail(remote.CheckHost(next.Args))
	if next.Args.Strategy == destination.PullRequest && !delivery.ContactsNoServer(p) {
		c.Data.CheckCredential(next.Args.Destination.Repo, c.Diags)
	}
	if c.Diags.ErrorsCount() > len(p.All().Refused()) { // not only refusals that accepted_changes can allow
		return
	}
	for _, err := range remote.CheckSettings(ctx, p) {
		fail(err)
	}
	checked, err := remote.Check(ctx, p)
	tfvalue.AppendProblems(c.Diags, report.Checked(p, checked))
	fail(err)
}

// stepOf returns the step of the rollout that the apply of a plan takes, or nil. The plan may be nil.
func stepOf(plan delivery.Plan) *rollout.Step {
	if plan == nil {
		return nil
	}
	p := plan.All()
	switch {
	case p.Stop == nil:
		return p.Next.Step
	case p.Stop.Cause == delivery.RolloutPaused:
		return &rollout.Step{Paused: p.Args.Rollout.Paused()}
	}
	return nil
}

// claimedTree returns the hash of the fleet's tree; "" if it is not known yet.
func claimedTree(applied *delivery.NextTree) string {
	if applied.Known < inventory.Whole {
		return ""
	}
	return applied.Rendered.Tree.Hash.String()
}
