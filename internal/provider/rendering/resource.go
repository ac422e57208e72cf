package rendering

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure   = (*environmentRendering)(nil)
	_ resource.ResourceWithModifyPlan  = (*environmentRendering)(nil)
	_ resource.ResourceWithImportState = (*environmentRendering)(nil)
	_ resource.ResourceWithIdentity    = (*environmentRendering)(nil)
)

// environmentRendering delivers the rendered tree of an environment to its branch.
type environmentRendering struct{ schemas.Resource }

// NewResource returns the resource kalypso_environment_rendering.
func NewResource() resource.Resource { return newEnvironmentRendering() }

func newEnvironmentRendering() *environmentRendering {
	return &environmentRendering{
		schemas.NewResource("environment_rendering", environmentRenderingSchema, renderingIdentity),
	}
}

// Create delivers the tree. If it fails, there is no state; the next create finds on the branch what this one wrote.
func (r *environmentRendering) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	*schemas.Bulk(ctx) = nil // the private state of a rendering that no longer exists, or is replaced
	defer r.Data.TranslatePullRequest(ctx, req.Plan, configuration.GitopsRepoURL, &resp.Diagnostics)
	defer renderingIdentity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	if created := r.apply(ctx, &req.Plan, nil, nil, resp.Private, &resp.Diagnostics); created != nil {
		resp.Diagnostics.Append(resp.State.Set(ctx, created)...)
	}
}

// Update delivers a changed tree. If it fails, the state stays.
func (r *environmentRendering) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer r.Data.TranslatePullRequest(ctx, req.Plan, configuration.GitopsRepoURL, &resp.Diagnostics)
	defer renderingIdentity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	state := schemas.Get[environmentRenderingModel](ctx, req.State, &resp.Diagnostics)
	if state == nil {
		return
	}
	before := readDelivery(ctx, state.prior(), &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		state.explainErrors(&resp.Diagnostics, did, before, nil)
		return
	}
	if updated := r.apply(ctx, &req.Plan, state, before, resp.Private, &resp.Diagnostics); updated != nil {
		resp.Diagnostics.Append(resp.State.Set(ctx, updated)...)
	}
}

// apply applies a plan, and returns the new state, or nil if it fails. state is nil for a create.
func (r *environmentRendering) apply(
	ctx context.Context,
	plan *tfsdk.Plan,
	state *environmentRenderingModel,
	before *past.State,
	private schemas.PrivateState,
	diags *diag.Diagnostics,
) *environmentRenderingModel {
	next := schemas.Get[environmentRenderingModel](ctx, plan, diags)
	if next == nil {
		return nil
	}
	defer func() { next.explainErrors(diags, wouldDo, before, nil) }()
	limit := timeouts.Value.Create
	if state != nil {
		limit = timeouts.Value.Update
	}
	ctx, cancel := schemas.Within(ctx, next.Timeouts, limit, schemas.WriteTimeout, diags)
	defer cancel()
	prior := state.prior()
	decision, found := r.decision(ctx, next, prior, before, diags)
	if diags.HasError() {
		return nil
	}
	if schemas.AppendWindowClosed(diags, decision.CheckWindow(r.Data.Now())) {
		return nil
	}
	planned := next.deliveryResults
	result, err := r.remote(ctx).Apply(ctx, decision)
	if err != nil {
		configuration.AppendDeliveryError(diags, decision.Applied.Wish.Destination, err)
		return nil
	}
	tflog.Info(ctx, "delivered the tree", map[string]any{"commit": result.Commit, "pushed": result.Pushed})
	tfvalue.AppendProblems(diags, report.Result(result))
	writeDelivery(ctx, result.State, diags)
	switch {
	case result.Action == delivery.Nothing:
		next.setNothing(result.Applied.Wish)
		return next
	case decision.IdleReason != "":
		next.keepComputed(state)
		return next
	}
	if err := next.setRendered(result.Applied, decision, state); err != nil {
		diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
	}
	next.setResult(decision, result, planned, state)
	if (feedbackGiver{r.Data, private, state, diags}).send(ctx, next, result, planned) {
		r.keepNothingToDo(ctx, private, next, decision, found, result.State, diags)
	}
	return next
}

// decision returns the decision of the last plan if it belongs to this one. Otherwise it renders the fleet and decides.
// found contains the problems of the arguments and the fleet.
func (r *environmentRendering) decision(
	ctx context.Context, plan *environmentRenderingModel, prior *past.Prior, before *past.State,
	diags *diag.Diagnostics,
) (decision *delivery.Decision, found problem.Problems) {
	a := plan.arguments()
	if decision, found = r.Data.LastPlans.Take(a.Environment, a.Destination, *plan); decision != nil {
		return decision, found
	}
	rendered, found := r.render(ctx, plan, prior, before)
	decision, ps := decide(rendered, found, prior, before)
	tfvalue.AppendProblems(diags, slices.DeleteFunc(ps, func(p problem.Problem) bool {
		return p.Severity == problem.Warning // the plan has shown it
	}))
	return decision, found
}

// remote returns the access to the branch.
func (r *environmentRendering) remote(ctx context.Context) remote.Operations {
	return remote.Operations{
		Git: r.Data.Client, Host: r.Data.Hosting, Claims: &r.Data.Claims, Progress: logProgress(ctx, logEvery),
	}
}

// Read compares the branch with the last delivery, and keeps the result in the private state.
func (r *environmentRendering) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	renderingIdentity.Set(ctx, &req.State, resp.Identity, &resp.Diagnostics)
	diags := &resp.Diagnostics
	defer r.Data.TranslatePullRequest(ctx, req.State, configuration.GitopsRepoURL, diags)
	state := schemas.Get[environmentRenderingModel](ctx, req.State, diags)
	if state == nil {
		return
	}
	prior := state.prior()
	before := readDelivery(ctx, prior, diags)
	defer func() { state.explainErrors(diags, did, before, nil) }()
	if diags.HasError() || r.Data == nil || !r.Data.Known {
		return
	}
	ctx, cancel := schemas.Within(ctx, state.Timeouts, timeouts.Value.Read, schemas.ReadTimeout, diags)
	defer cancel()
	found, err := r.remote(ctx).Refresh(ctx, prior, before)
	switch {
	case err != nil:
		configuration.AppendDeliveryError(diags, prior.Destination, err)
		return
	case found == nil:
		return
	}
	tfvalue.AppendProblems(diags, report.Refreshed(prior, found))
	if found.Removed {
		resp.State.RemoveResource(ctx)
		return
	}
	if found.Changed {
		writeDelivery(ctx, found.State, diags)
	}
	files, err := r.revertedFiles(ctx, state, found.State)
	if err != nil {
		configuration.AppendDeliveryError(diags, prior.Destination, err)
		return
	}
	if state.setRefreshed(ctx, found, files) {
		diags.Append(resp.State.Set(ctx, state)...)
	}
}

// revertedFiles returns the files on the branch after a revert, if the state still shows the files from before it.
func (r *environmentRendering) revertedFiles(
	ctx context.Context, state *environmentRenderingModel, now *past.State,
) (map[string][]byte, error) {
	if state.Files.IsNull() || !now.Reverted() || state.TreeHash.ValueString() == now.OwnFolders().TreeHash().String() {
		return nil, nil
	}
	return r.remote(ctx).Files(ctx, now)
}

// Delete removes the rendering's folders from the branch.
func (r *environmentRendering) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	diags := &resp.Diagnostics
	defer r.Data.TranslatePullRequest(ctx, req.State, configuration.GitopsRepoURL, diags)
	state := schemas.Get[environmentRenderingModel](ctx, req.State, diags)
	if state == nil {
		return
	}
	prior := state.prior()
	before := readDelivery(ctx, prior, diags)
	defer func() { state.explainErrors(diags, did, before, nil) }()
	d := state.arguments()
	tfvalue.AppendProblems(diags, d.ValidateDestroy())
	planned, ds := req.Private.GetKey(ctx, destroyPlannedKey)
	diags.Append(ds...)
	diags.Append(resp.Private.SetKey(ctx, destroyPlannedKey, nil)...) // the key is only for this destroy, even if it fails
	if planned == nil && d.Delivers() && !d.KeepOnDestroy {
		configuration.AppendDeliveryError(diags, d.Destination, check.Replaces(d.Destination, d.Environment))
	}
	if diags.HasError() {
		return
	}
	ctx, cancel := schemas.Within(ctx, state.Timeouts, timeouts.Value.Delete, schemas.WriteTimeout, diags)
	defer cancel()
	d.Author = r.Data.Committer(d.Trailers)
	after, destroyed, err := r.remote(ctx).Destroy(ctx, d, prior, before)
	tfvalue.AppendProblems(diags, report.Destroyed(destroyed))
	if err != nil {
		writeDelivery(ctx, after, diags)
		configuration.AppendDeliveryError(diags, d.Destination, err)
		return
	}
	feedbackGiver{r.Data, resp.Private, state, diags}.end(ctx, d.Environment)
}

// readDelivery returns the delivery that the last run stored in the private state. It returns nil if this version of
// the provider can't read it. It reports the private state of another rendering.
func readDelivery(ctx context.Context, p *past.Prior, diags *diag.Diagnostics) *past.State {
	s, err := past.DecodeState(*schemas.Bulk(ctx))
	if err != nil {
		return nil // absent, or of another version: Read recovers it from the branch
	}
	if s.Current() && !p.Of(s) {
		diags.AddError("Private state of another rendering", fmt.Sprintf(
			"The state is of environment %q at %s. Its private part is of environment %q at %s. A part of the state was "+
				"edited or restored. Nothing was read or written. Restore the state from a backup. Or remove the rendering from "+
				"the state with \"terraform state rm\", and import it again with \"terraform import\" and the ID %s.",
			p.Environment, p.Destination, s.Environment, s.Destination, p.Destination.ImportID(p.Environment)))
		return nil
	}
	return s
}

// writeDelivery keeps s in the private state for the next run. A nil s changes nothing.
func writeDelivery(ctx context.Context, s *past.State, diags *diag.Diagnostics) {
	if s == nil {
		return
	}
	data, err := s.Encode()
	if err != nil {
		diags.AddError("Private state can't be written", err.Error())
		return
	}
	*schemas.Bulk(ctx) = data
}

// logEvery is the interval at which long work logs its progress.
const logEvery = 3 * time.Second

// logProgress logs the progress of long work: rendered folders of cluster types, packed folders, sent bytes. A total of
// 0 is unknown.
func logProgress(ctx context.Context, every time.Duration) func(stage string, done, total int) {
	last := time.Now()
	return func(stage string, done, total int) {
		if now := time.Now(); now.Sub(last) >= every {
			last = now
			fields := map[string]any{"done": strconv.Itoa(done)} // Terraform would show the number as 4.1e+07
			if total > 0 {
				fields["total"] = strconv.Itoa(total)
			}
			tflog.Info(ctx, stage, fields)
		}
	}
}
