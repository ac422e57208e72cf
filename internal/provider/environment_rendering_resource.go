package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

var (
	_ resource.ResourceWithConfigure   = (*environmentRendering)(nil)
	_ resource.ResourceWithModifyPlan  = (*environmentRendering)(nil)
	_ resource.ResourceWithImportState = (*environmentRendering)(nil)
	_ resource.ResourceWithIdentity    = (*environmentRendering)(nil)
)

// The time an operation has where timeouts says nothing.
const (
	readTimeout  = 10 * time.Minute
	writeTimeout = 30 * time.Minute
)

// environmentRendering brings the rendered tree of an environment to its branch.
type environmentRendering struct{ data *providerData }

func newEnvironmentRendering() resource.Resource { return &environmentRendering{} }

func (r *environmentRendering) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName, resp.ResourceBehavior = req.ProviderTypeName+"_environment_rendering", mutableIdentity
}

func (r *environmentRendering) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = renderingIdentity.schema()
}

func (r *environmentRendering) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = environmentRenderingSchema(ctx)
}

func (r *environmentRendering) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.data, _ = req.ProviderData.(*providerData)
}

// Create delivers the tree. Where it fails there is no state; the next one finds what it wrote.
func (r *environmentRendering) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer renderingIdentity.set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	if created := r.write(ctx, &req.Plan, nil, nil, resp.Private, &resp.Diagnostics); created != nil {
		resp.Diagnostics.Append(resp.State.Set(ctx, created)...)
	}
}

// Update delivers a changed tree, and only then changes the state.
func (r *environmentRendering) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer renderingIdentity.set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	state := readModel(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	before := readDelivery(ctx, req.Private, state, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if updated := r.write(ctx, &req.Plan, state, before, resp.Private, &resp.Diagnostics); updated != nil {
		resp.Diagnostics.Append(resp.State.Set(ctx, updated)...)
	}
}

// write applies a plan, and returns the new state, or nil where it failed. state is nil for a create.
func (r *environmentRendering) write(
	ctx context.Context, plan *tfsdk.Plan, state *environmentRenderingModel, before *delivery.State, private privateState,
	diags *diag.Diagnostics,
) *environmentRenderingModel {
	next := readModel(ctx, plan, diags)
	if next == nil {
		return nil
	}
	if state != nil && plan.Raw.IsFullyKnown() && next.kept(state) {
		r.keepInputs(ctx, next, before, private, diags)
		return next
	}
	limit := timeouts.Value.Create
	if state != nil {
		limit = timeouts.Value.Update
	}
	ctx, cancel := next.within(ctx, limit, writeTimeout, diags)
	defer cancel()
	o := r.rendered(ctx, next, state, before, diags)
	if diags.HasError() {
		return nil
	}
	planned := next.deliveryResults
	decision := delivery.Decide(o.Desired, state.prior(), before)
	if err := next.setRendered(o, state); err != nil {
		diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
		return nil
	}
	switch decision.Action {
	case delivery.RemoveOld:
		if before = r.removeOld(ctx, o.Desired, before, diags); before == nil {
			return nil
		}
		fallthrough
	case delivery.Keep:
		next.keepResults(state, o, before)
		if before != nil {
			writeDelivery(ctx, private, before.WithInputs(o.Desired).WithTarget(o.TargetTreeHash()), diags)
		}
		return next
	}
	if decision.Unreadable {
		before = r.recoverForPlan(ctx, o, state, diags)
	}
	if diags.HasError() {
		return nil
	}
	certain := o.Certain()
	result := r.deliver(ctx, o, next, before, private, diags)
	if result == nil {
		return nil
	}
	if !certain { // the delivery read what it depends on
		if err := next.setRendered(o, state); err != nil {
			diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
		}
	}
	switch next.Description = planned.Description; {
	case !next.Description.IsUnknown():
	case o.Review.Detail == delivery.NoDescription:
		next.Description = types.StringNull()
	default:
		next.Description = types.StringValue(o.Describe(result.Before))
	}
	return next
}

// keepInputs keeps what the delivered tree is made of by now. Where another rendering was planned since, it reads that from the
// plan, of which nothing is rendered: its arguments may be of different runs.
func (r *environmentRendering) keepInputs(
	ctx context.Context, planned *environmentRenderingModel, before *delivery.State, private privateState, diags *diag.Diagnostics,
) {
	if before == nil {
		return
	}
	o := r.data.lastPlan.take(planned)
	if o == nil {
		o, _ = planned.rendering(ctx, r.data)
	}
	writeDelivery(ctx, private, before.WithInputs(o.Desired).WithTarget(planned.TargetTreeHash.ValueString()), diags)
}

// removeOld has what was delivered to other branches before removed, and returns the state after it, or nil where it failed.
func (r *environmentRendering) removeOld(
	ctx context.Context, d *delivery.Desired, before *delivery.State, diags *diag.Diagnostics,
) *delivery.State {
	pulls := pullRequests(r.data.hostFor(diags), d)
	if pulls == nil {
		return nil
	}
	after, removals, err := pulls.RemoveOld(ctx, r.data.Client, d, before)
	if err != nil {
		appendDeliveryError(diags, d.Destination, err)
		return nil
	}
	appendRemovals(diags, removals)
	return after
}

// rendered is what the plan rendered, which Terraform has just made again, or the same rendered anew.
func (r *environmentRendering) rendered(
	ctx context.Context, planned, state *environmentRenderingModel, before *delivery.State, diags *diag.Diagnostics,
) *rendering {
	if o := r.data.lastPlan.take(planned); o != nil {
		return o
	}
	o, ps := planned.rendering(ctx, r.data)
	appendProblems(diags, slices.DeleteFunc(append(ps, o.runAfter(ctx, state, before)...), func(p fleet.Problem) bool {
		return p.Severity == fleet.Warning // the plan has shown it
	}))
	return o
}

// deliver brings the tree to its destination, and sets the results and the private state. It returns nil where it failed.
func (r *environmentRendering) deliver(
	ctx context.Context, o *rendering, next *environmentRenderingModel, before *delivery.State, private privateState, diags *diag.Diagnostics,
) *delivery.Result {
	if o.Strategy == delivery.ComputeOnly {
		next.setComputedOnly()
		result := delivery.Compute(o.Desired, before)
		writeDelivery(ctx, private, result.State, diags)
		return result
	}
	if !r.data.claims.deliver(o.Destination) {
		diags.AddAttributeError(path.Root("gitops_repo"), "Two renderings at one place",
			fmt.Sprintf("Another rendering of this configuration has just been written to %s. Give each a path of its own.", o.Destination))
		return nil
	}
	result, err := r.bring(ctx, o.Desired, before, diags)
	if err != nil {
		appendDeliveryError(diags, o.Destination, err)
	}
	if err != nil || result == nil {
		return nil
	}
	writeDelivery(ctx, private, result.State, diags)
	tflog.Info(ctx, "delivered the tree", map[string]any{"commit": result.Commit, "pushed": result.Pushed})
	appendResult(diags, o.Desired, result)
	next.setDelivery(result.Commit, o.ReachedBy(result.State), result.PullRequest)
	return result
}

// bring delivers the tree by its strategy. It returns nil where an error was reported.
func (r *environmentRendering) bring(ctx context.Context, d *delivery.Desired, before *delivery.State, diags *diag.Diagnostics) (*delivery.Result, error) {
	reviewed := before.Current() && before.Reviewed()
	if d.Strategy == delivery.Push && !reviewed {
		return delivery.Deliver(ctx, r.data.Client, d, before, logProgress(ctx, logEvery))
	}
	pulls := pullRequests(r.data.hostFor(diags), d)
	switch {
	case pulls == nil:
		return nil, nil //nolint:nilnil // the error is in diags
	case d.Strategy == delivery.PullRequest:
		return pulls.Propose(ctx, r.data.Client, d, before, logProgress(ctx, logEvery))
	}
	result, err := delivery.Deliver(ctx, r.data.Client, d, before, logProgress(ctx, logEvery))
	if err != nil {
		return result, err
	}
	return result, pulls.ClosePullRequests(ctx, r.data.Client, before)
}

// Read compares what is ours on the branch with what was delivered, and keeps what it finds in private state.
func (r *environmentRendering) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	renderingIdentity.set(ctx, &req.State, resp.Identity, &resp.Diagnostics)
	diags := &resp.Diagnostics
	state := readModel(ctx, req.State, diags)
	if diags.HasError() {
		return
	}
	before := readDelivery(ctx, req.Private, state, diags)
	if diags.HasError() || !r.contacts() {
		return
	}
	ctx, cancel := state.within(ctx, timeouts.Value.Read, readTimeout, diags)
	defer cancel()
	d := state.desired()
	if d.Strategy == delivery.ComputeOnly || state.CommitSHA.IsNull() && d.Strategy == delivery.Push {
		return
	}
	renamed := before.Current() && !before.BaselineUnknown() && before.RenameTo(d.Destination)
	now, pr, err := r.follow(ctx, state, before, diags)
	switch {
	case errors.Is(err, delivery.ErrRemoved):
		resp.State.RemoveResource(ctx)
	case errors.Is(err, gitops.ErrBranchNotFound):
		diags.AddWarning("The branch of a rendering is gone",
			fmt.Sprintf("Environment %q was rendered to %s, and there is no such branch any more. It is planned anew.", d.Environment, d.Destination))
		resp.State.RemoveResource(ctx)
	case errors.Is(err, delivery.ErrNoRendering):
		// plan delivers anew
	case err != nil:
		appendDeliveryError(diags, d.Destination, err)
	case now != nil:
		if now != before || renamed { // else it is kept as it is
			writeDelivery(ctx, resp.Private, now, diags)
		}
		if state.setFound(now, pr) {
			diags.Append(resp.State.Set(ctx, state)...)
		}
	}
}

// follow reads what became of what was delivered, or proposed. It returns nil where an error was reported.
func (r *environmentRendering) follow(
	ctx context.Context, state *environmentRenderingModel, before *delivery.State, diags *diag.Diagnostics,
) (*delivery.State, *hosting.PullRequest, error) {
	if !before.Current() || before.BaselineUnknown() {
		now, err := r.recoverState(ctx, state)
		return now, nil, err
	}
	var host hosting.Host
	if before.Reviewed() {
		if host = r.data.hostFor(diags); host == nil {
			return nil, nil, nil
		}
	}
	return delivery.Follow(ctx, r.data.Client, host, before)
}

// Delete removes what is ours from the branch.
func (r *environmentRendering) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	diags := &resp.Diagnostics
	state := readModel(ctx, req.State, diags)
	if diags.HasError() {
		return
	}
	before := readDelivery(ctx, req.Private, state, diags)
	if diags.HasError() {
		return
	}
	if state.protected() {
		appendProtection(diags, state)
		return
	}
	ctx, cancel := state.within(ctx, timeouts.Value.Delete, writeTimeout, diags)
	defer cancel()
	d := state.desired()
	if destructions.or(state.OnDestroy.ValueString()) == destroyKeep || d.Strategy == delivery.ComputeOnly ||
		state.CommitSHA.IsNull() && d.Strategy == delivery.Push {
		return
	}
	if !before.Current() {
		before = &delivery.State{Destination: d.Destination, Environment: d.Environment}
	}
	if r.data.claims.taken(before.Destination) {
		// A resource that was renamed without a moved block, or is replaced with create_before_destroy.
		diags.AddAttributeWarning(path.Root("gitops_repo"), "The tree was left to its new rendering",
			fmt.Sprintf("Another rendering of this configuration goes to %s. Nothing was removed there.", before.Destination))
		return
	}
	if d.Strategy == delivery.PullRequest {
		d.Author, d.KeepOld = r.data.author.sign(), moves.or(state.OnMove.ValueString()) == moveKeep
		r.removeByPullRequest(ctx, d, before, resp.Private, diags)
		return
	}
	message := "Remove the rendering of environment " + before.Environment
	if err := delivery.Remove(ctx, r.data.Client, before, message, r.data.author.sign()); err != nil {
		appendDeliveryError(diags, before.Destination, err)
	}
}

// removeByPullRequest has the removal of the rendering reviewed.
func (r *environmentRendering) removeByPullRequest(
	ctx context.Context, d *delivery.Desired, before *delivery.State, private privateState, diags *diag.Diagnostics,
) {
	pulls := pullRequests(r.data.hostFor(diags), d)
	if pulls == nil {
		return
	}
	after, removals, err := pulls.Destroy(ctx, r.data.Client, d, before)
	if err != nil {
		writeDelivery(ctx, private, after, diags)
		appendDeliveryError(diags, before.Destination, err)
		return
	}
	appendRemovals(diags, removals)
}

// deliveryKey is the key of the delivery's state in private state.
const deliveryKey = "delivery"

// privateState is Terraform's private state of a resource.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readDelivery returns what the last run kept; nil where there is nothing, or nothing that this version reads. What is not of
// this state is an error.
func readDelivery(ctx context.Context, private privateState, state *environmentRenderingModel, diags *diag.Diagnostics) *delivery.State {
	data, ds := private.GetKey(ctx, deliveryKey)
	diags.Append(ds...)
	if len(data) == 0 {
		return nil
	}
	s, err := delivery.DecodeState(data)
	if err != nil {
		return nil // of another version: Read fetches it anew from the branch
	}
	if d := state.desired(); s.Current() && !s.Of(d) {
		diags.AddError("Private state of another rendering", fmt.Sprintf(
			"The state says environment %q at %s, and what the provider keeps beside it is of environment %q at %s. A part of the state was edited or restored. "+
				"Nothing was read or written. Restore the state from a backup. Or remove the rendering from the state with \"terraform state rm\", "+
				"and bring it back with \"terraform import\", whose ID is %s.",
			d.Environment, d.Destination, s.Environment, s.Destination, renderingImportID(d.Environment, d.Destination)))
		return nil
	}
	return s
}

func writeDelivery(ctx context.Context, private privateState, s *delivery.State, diags *diag.Diagnostics) {
	data, err := s.Encode()
	if err != nil {
		diags.AddError("Private state can't be written", err.Error())
		return
	}
	diags.Append(private.SetKey(ctx, deliveryKey, data)...)
}

// logEvery is how often long work says how far it is.
const logEvery = 3 * time.Second

// logProgress logs what long work has done of what: folders of cluster types rendered, folders packed, bytes sent. A total of
// 0 is not known.
func logProgress(ctx context.Context, every time.Duration) func(stage string, done, total int) {
	last := time.Now()
	return func(stage string, done, total int) {
		if now := time.Now(); now.Sub(last) >= every {
			last = now
			fields := map[string]any{"done": strconv.Itoa(done)} // a number of this size Terraform would show as 4.1e+07
			if total > 0 {
				fields["total"] = strconv.Itoa(total)
			}
			tflog.Info(ctx, stage, fields)
		}
	}
}
