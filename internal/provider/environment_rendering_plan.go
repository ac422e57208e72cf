package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
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
	request, ofArguments := readRenderingRequest(values)
	outcome, ofFleet := request.outcome(ctx, before)
	appendProblems(&resp.Diagnostics, append(ofArguments, ofFleet...))
	if resp.Diagnostics.HasError() {
		return
	}
	if err := outcome.set(values); err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
		return
	}
	outcome.readReview(r.data)
	r.claim(outcome, state == nil, &resp.Diagnostics)
	r.checkReviewers(outcome, &resp.Diagnostics)
	if state == nil {
		r.planCreate(ctx, outcome, values, &resp.Diagnostics)
	} else {
		r.planUpdate(ctx, outcome, state, before, values, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(setObject(ctx, &resp.Plan, values)...)
	if r.data != nil {
		r.data.lastPlan.keep(values, outcome)
	}
}

func (r *environmentRendering) planCreate(ctx context.Context, o *renderingOutcome, values map[string]attr.Value, diags *diag.Diagnostics) {
	values["changes"], values["description"] = types.MapUnknown(types.StringType), types.StringUnknown()
	o.planDelivery(values)
	r.check(ctx, o, nil, timeouts.Value.Create, values, diags)
}

func (r *environmentRendering) planUpdate(ctx context.Context, o *renderingOutcome, state map[string]attr.Value, before *delivery.State, values map[string]attr.Value, diags *diag.Diagnostics) {
	if before.Current() && o.delivers() && o.settled && o.decided() {
		judgeChange(diags, o, before)
	}
	switch o.writesAfter(state, before) {
	case writesNothing:
		keep(values, state)
		appendAbandoned(diags, o, before)
		return
	case writesMaybe:
		values["changes"], values["description"] = types.MapUnknown(types.StringType), types.StringUnknown()
	case writesChange:
		values["changes"], values["description"] = o.changesAfter(before), o.descriptionAfter(before)
	}
	o.planDelivery(values)
	if o.delivers() {
		for _, s := range o.order(commitAuthor{}, before).Overwritten() {
			appendDrift(diags, o.onDrift, s)
		}
	}
	if o.strategy == strategyNone {
		appendLeft(diags, state, before)
	}
	forgot := forgotten(state, before) && o.delivers() && r.data != nil && r.data.known
	if forgot {
		before = r.remember(ctx, state, values, diags)
	}
	if o.settled && (forgot || !before.Current() || !before.Place.Same(o.place)) {
		r.check(ctx, o, before, timeouts.Value.Update, values, diags)
	}
}

// keep keeps what tells of the last change.
func keep(values, state map[string]attr.Value) {
	for _, name := range deliveryResults {
		values[name] = state[name]
	}
}

// appendLeft says what becomes of a delivered tree that is only computed from now on.
func appendLeft(diags *diag.Diagnostics, state map[string]attr.Value, before *delivery.State) {
	if !before.Current() {
		return
	}
	if p := before.Proposal; p.Open() {
		diags.AddAttributeWarning(path.Root("delivery"), "The pull request stays open",
			fmt.Sprintf("With the strategy none, nobody looks at pull request %d to %s any more. Close it, or merge it.", p.Number, before.Place))
	}
	if commit, _ := state["commit_sha"].(types.String); commit.IsNull() {
		return
	}
	diags.AddAttributeWarning(path.Root("delivery"), "The delivered tree stays on the branch",
		fmt.Sprintf("With the strategy none, what was delivered to %s is neither changed nor removed any more, by a destroy or a later move either. "+
			"Delivering to the same place again takes it over.", before.Place))
}

// judgeChange reports what the guardrails and the ownership refuse, as far as the last read of the branch tells.
func judgeChange(diags *diag.Diagnostics, o *renderingOutcome, before *delivery.State) {
	takeover, errs := o.order(commitAuthor{}, before).Foresee()
	for _, err := range errs {
		appendDeliveryError(diags, o.place, err)
	}
	if len(takeover.Adopted) > 0 {
		appendTakeover(diags, o.place, takeover)
	}
}

// claim reports another rendering of the configuration whose folders would lie in this one's.
func (r *environmentRendering) claim(o *renderingOutcome, create bool, diags *diag.Diagnostics) {
	if r.data == nil || !o.delivers() || !o.placed() || anyUnknown(o.fleet.Environment) {
		return
	}
	c := claim{place: o.place, environment: o.fleet.Environment, create: create}
	if o.known() {
		c.tree = o.tree.Hash.String()
	}
	if other, ok := r.data.claims.plan(c); !ok {
		diags.AddAttributeError(path.Root("gitops_repo"), "Two renderings at one place",
			fmt.Sprintf("Another rendering of this configuration goes to path %q of the same branch, this one to %q: %s. Choose paths beside each other.", other, o.place.Path, delivery.ErrNested))
	}
}

// check reads the place for errors: whether the branch is there, and what is there may be written. It takes no longer than
// the operation that is planned may take.
func (r *environmentRendering) check(
	ctx context.Context, o *renderingOutcome, before *delivery.State, limit timeoutGetter, values map[string]attr.Value, diags *diag.Diagnostics,
) {
	if !o.delivers() || !o.settled || r.data == nil || !r.data.known || diags.HasError() {
		return
	}
	ctx, cancel := within(ctx, values, limit, writeTimeout, diags)
	defer cancel()
	order := o.order(r.data.author, before)
	if !o.decided() {
		order.Tree = nil
	}
	if o.strategy == strategyPullRequest {
		r.checkReview(ctx, o, diags)
	}
	takeover, err := delivery.Check(ctx, r.data.Client, order)
	if err != nil {
		appendDeliveryError(diags, o.place, err)
		return
	}
	if len(takeover.Adopted) > 0 {
		appendTakeover(diags, o.place, takeover)
	}
}

func appendTakeover(diags *diag.Diagnostics, place delivery.Place, takeover delivery.Takeover) {
	detail := fmt.Sprintf("At %s, these folders become this rendering's, and what is in them and not rendered is removed:\n%s", place, fleet.Lines(takeover.Adopted, shown))
	if len(takeover.Removed) > 0 {
		detail += "\nThese of them are no cluster type's and go:\n" + fleet.Lines(takeover.Removed, shown)
	}
	diags.AddAttributeWarning(path.Root("adopt"), "Folders are taken over", detail)
}

// appendDrift reports what others did to our folders.
func appendDrift(diags *diag.Diagnostics, onDrift string, s *delivery.State) {
	var b strings.Builder
	fmt.Fprintf(&b, "At %s, others changed what this rendering delivered:\n", s.Place)
	for _, d := range s.Drift {
		if d.Commit != "" {
			author, subject := printable.Line(d.Author), printable.Line(d.Subject)
			fmt.Fprintf(&b, "\ncommit %s\n  by %s at %s\n  %s\n", d.Commit, author, d.Time, subject)
		} else {
			fmt.Fprintf(&b, "\n%s:\n", d.Subject)
		}
		paths := slices.Clone(d.Paths)
		if d.More > 0 {
			paths = append(paths, fmt.Sprintf("and %d more", d.More))
		}
		for _, p := range paths {
			fmt.Fprintf(&b, "  - %s\n", printable.Line(p))
		}
	}
	switch {
	case onDrift == driftOverwrite:
		diags.AddAttributeWarning(path.Root("on_drift"), "Changes of others are overwritten", b.String()+"\nThe apply puts the rendered tree back.")
	case fleet.IsUnknown(onDrift):
		diags.AddAttributeWarning(path.Root("on_drift"), "Others changed the rendered folders", b.String()+
			"\non_drift is known after apply; then it decides whether the apply stops, or puts the rendered tree back.")
	default:
		diags.AddAttributeError(path.Root("on_drift"), "Others changed the rendered folders", b.String()+
			"\nThis may be a hotfix or a revert. Bring it into the fleet's objects, or set on_drift = \"overwrite\" to put the rendered tree back.")
	}
}
