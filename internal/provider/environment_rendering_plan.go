package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
)

// ModifyPlan plans every computed attribute. Terraform calls it again during apply, so that what it plans as known
// follows from the configuration, the prior state and private state alone; the branch is read for errors.
func (r *environmentRendering) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state map[string]attr.Value
	if !req.State.Raw.IsNull() {
		state = getObject(ctx, req.State, &resp.Diagnostics)
	}
	if req.Plan.Raw.IsNull() {
		if state != nil && protected(state) {
			appendProtection(&resp.Diagnostics, state)
		}
		return
	}
	values := getObject(ctx, req.Plan, &resp.Diagnostics)
	before := readDelivery(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	request, ps := readRenderingRequest(values)
	appendProblems(&resp.Diagnostics, ps)
	if resp.Diagnostics.HasError() {
		// What the fleet has against it is reported with what the arguments have.
		_, ps = request.outcome(ctx)
		appendProblems(&resp.Diagnostics, ps)
		return
	}
	outcome, ps := request.outcome(ctx)
	appendProblems(&resp.Diagnostics, ps)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := outcome.set(values); err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
		return
	}
	if state == nil {
		r.planCreate(ctx, outcome, values, &resp.Diagnostics)
	} else {
		r.planUpdate(ctx, outcome, state, before, values, &resp.Diagnostics)
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(setObject(ctx, &resp.Plan, values)...)
	}
}

func (r *environmentRendering) planCreate(ctx context.Context, o *renderingOutcome, values map[string]attr.Value, diags *diag.Diagnostics) {
	values["changes"], values["commit_sha"] = types.MapUnknown(types.StringType), types.StringUnknown()
	if o.strategy == strategyNone {
		values["commit_sha"] = types.StringNull()
	}
	r.check(ctx, o, nil, values, diags)
}

func (r *environmentRendering) planUpdate(ctx context.Context, o *renderingOutcome, state map[string]attr.Value, before *delivery.State, values map[string]attr.Value, diags *diag.Diagnostics) {
	if o.strategy == strategyPush && before.Current() && before.Drifted() {
		appendDrift(diags, o.onDrift, before)
	}
	if before.Current() && o.strategy == strategyPush && o.decided() {
		judgeChange(diags, o, before)
	}
	switch o.writesAfter(state, before) {
	case writesNothing:
		values["changes"], values["commit_sha"] = state["changes"], state["commit_sha"]
		return
	case writesMaybe:
		values["changes"], values["commit_sha"] = types.MapUnknown(types.StringType), types.StringUnknown()
	case writesChange:
		values["changes"], values["commit_sha"] = o.changesAfter(before), types.StringUnknown()
	}
	if o.strategy == strategyNone {
		values["commit_sha"] = types.StringNull()
	}
	if o.settled && (!before.Current() || before.Place != o.place) {
		r.check(ctx, o, before, values, diags)
	}
}

// judgeChange reports what the guardrails and the ownership refuse, as far as the last read of the branch tells.
func judgeChange(diags *diag.Diagnostics, o *renderingOutcome, before *delivery.State) {
	wanted := delivery.FootprintOf(o.tree)
	if err := o.guardrails.Check(before.Seen, wanted, before.Environment != o.fleet.Environment); err != nil {
		appendDeliveryError(diags, o.place, err)
	}
	if o.adopt || before.Place != o.place {
		return
	}
	var foreign []string
	for _, name := range before.Others {
		if _, ok := wanted[name]; ok {
			foreign = append(foreign, name)
		}
	}
	if len(foreign) > 0 {
		appendDeliveryError(diags, o.place, delivery.NotOurs(o.place, foreign))
	}
}

// check reads the place for errors: whether the branch is there, and what is there may be written.
func (r *environmentRendering) check(ctx context.Context, o *renderingOutcome, before *delivery.State, values map[string]attr.Value, diags *diag.Diagnostics) {
	if o.strategy != strategyPush || !o.settled || r.data == nil {
		return
	}
	if other, ok := r.data.claims.plan(o.place, o.fleet.Environment); !ok {
		diags.AddAttributeError(path.Root("gitops_repo"), "Two renderings at one place",
			fmt.Sprintf("Another rendering of this configuration goes to path %q of the same branch, this one to %q: %s. Choose paths beside each other.", other, o.place.Path, delivery.ErrNested))
		return
	}
	if !r.data.known {
		return
	}
	ctx, cancel := within(ctx, values, timeoutOf(nil), diags)
	defer cancel()
	order := o.order(r.data.author, before)
	if !o.decided() {
		order.Tree = nil
	}
	takeover, err := delivery.Check(ctx, r.data.Client, order)
	if err != nil {
		appendDeliveryError(diags, o.place, err)
		return
	}
	if len(takeover.Adopted) > 0 {
		detail := fmt.Sprintf("At %s, these folders become this rendering's, and what is in them and not rendered is removed:\n  %s", o.place, joinBounded(takeover.Adopted))
		if len(takeover.Removed) > 0 {
			detail += "\nThese of them are no cluster type's and go:\n  " + joinBounded(takeover.Removed)
		}
		diags.AddAttributeWarning(path.Root("adopt"), "Folders are taken over", detail)
	}
}

// appendDrift reports what others did to our folders.
func appendDrift(diags *diag.Diagnostics, onDrift string, s *delivery.State) {
	var b strings.Builder
	fmt.Fprintf(&b, "At %s, others changed what this rendering delivered:\n", s.Place)
	for _, d := range s.Drift {
		if d.Commit != "" {
			fmt.Fprintf(&b, "\ncommit %s\n  by %s at %s\n  %s\n", d.Commit, d.Author, d.Time, d.Subject)
		} else {
			fmt.Fprintf(&b, "\n%s:\n", d.Subject)
		}
		paths := slices.Clone(d.Paths)
		if d.More > 0 {
			paths = append(paths, fmt.Sprintf("and %d more", d.More))
		}
		for _, p := range paths {
			fmt.Fprintf(&b, "  - %s\n", p)
		}
	}
	if onDrift == driftOverwrite {
		diags.AddAttributeWarning(path.Root("on_drift"), "Changes of others are overwritten", b.String()+"\nThe apply puts the rendered tree back.")
		return
	}
	diags.AddAttributeError(path.Root("on_drift"), "Others changed the rendered folders", b.String()+
		"\nThis may be a hotfix or a revert. Bring it into the fleet's objects, or set on_drift = \"overwrite\" to put the rendered tree back.")
}
