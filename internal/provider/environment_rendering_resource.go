package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
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
	resp.TypeName = req.ProviderTypeName + "_environment_rendering"
}

func (r *environmentRendering) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = environmentRenderingSchema(ctx)
}

func (r *environmentRendering) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.data, _ = req.ProviderData.(*providerData)
}

// Create delivers the tree. Where it fails there is no state; the next one finds what it wrote.
func (r *environmentRendering) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	values := r.write(ctx, req.Plan, nil, nil, resp.Private, &resp.Diagnostics)
	if values == nil {
		return
	}
	resp.Diagnostics.Append(setObject(ctx, &resp.State, values)...)
}

// Update delivers a changed tree, and only then changes the state.
func (r *environmentRendering) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	state := getObject(ctx, req.State, &resp.Diagnostics)
	before := readDelivery(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if forgotten(state, before) {
		before = r.remember(ctx, state, getObject(ctx, req.Plan, &resp.Diagnostics), &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	values := r.write(ctx, req.Plan, state, before, resp.Private, &resp.Diagnostics)
	if values == nil {
		return
	}
	resp.Diagnostics.Append(setObject(ctx, &resp.State, values)...)
}

// write applies a plan, and returns the values of the new state, or nil where it failed.
func (r *environmentRendering) write(ctx context.Context, plan getter, state map[string]attr.Value, before *delivery.State, private privateState, diags *diag.Diagnostics) map[string]attr.Value {
	values := getObject(ctx, plan, diags)
	if diags.HasError() {
		return nil
	}
	ctx, cancel := within(ctx, values, timeoutOf(state), writeTimeout, diags)
	defer cancel()
	outcome := r.outcome(ctx, values, before, diags)
	if diags.HasError() {
		return nil
	}
	planned := maps.Clone(values)
	if err := outcome.set(values); err != nil {
		diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
		return nil
	}
	if state != nil && outcome.writesAfter(state, before) == writesNothing {
		keep(values, state)
		if before != nil {
			writeDelivery(ctx, private, before.Renewed(outcome.tree).WithInputs(outcome.order(commitAuthor{}, before)), diags)
		}
		return values
	}
	changes, found := r.deliver(ctx, outcome, before, values, private, diags)
	if diags.HasError() {
		return nil
	}
	values["changes"], values["description"] = planned["changes"], planned["description"]
	if values["changes"].IsUnknown() {
		values["changes"] = stringMapOf(changes)
	}
	if values["description"].IsUnknown() {
		values["description"] = outcome.description(found)
	}
	return values
}

// outcome is that of the plan, which Terraform has just made again, or the same made anew.
func (r *environmentRendering) outcome(ctx context.Context, planned map[string]attr.Value, before *delivery.State, diags *diag.Diagnostics) *renderingOutcome {
	if o := r.data.lastPlan.take(planned); o != nil {
		return o
	}
	request, ps := readRenderingRequest(planned)
	appendProblems(diags, ps)
	if diags.HasError() {
		return nil
	}
	o, ps := request.outcome(ctx, before)
	appendProblems(diags, slices.DeleteFunc(ps, func(p fleet.Problem) bool {
		return p.Severity == fleet.Warning // the plan has shown it
	}))
	if o != nil {
		o.readReview(r.data)
	}
	return o
}

// deliver brings the tree to the branch, sets commit_sha and the private state, and returns what became of the targets, and
// what was there before.
func (r *environmentRendering) deliver(ctx context.Context, o *renderingOutcome, before *delivery.State, values map[string]attr.Value, private privateState, diags *diag.Diagnostics) (map[string]string, *delivery.State) {
	if o.strategy == strategyNone {
		state := delivery.Computed(o.order(commitAuthor{}, before))
		setDelivery(values, "", false, nil)
		values["delivered"] = types.BoolNull()
		writeDelivery(ctx, private, state, diags)
		if before == nil {
			before = &delivery.State{}
		}
		return delivery.Changes(before.Seen, state.Seen), before
	}
	if !r.data.claims.deliver(o.place) {
		diags.AddAttributeError(path.Root("gitops_repo"), "Two renderings at one place",
			fmt.Sprintf("Another rendering of this configuration has just been written to %s. Give each a path of its own.", o.place))
		return nil, nil
	}
	receipt, err := r.bring(ctx, o, before, diags)
	if err != nil {
		appendDeliveryError(diags, o.place, err)
	}
	if err != nil || receipt == nil {
		return nil, nil
	}
	writeDelivery(ctx, private, receipt.State, diags)
	tflog.Info(ctx, "delivered the tree", map[string]any{"commit": receipt.Commit, "pushed": receipt.Pushed, "cluster_types_changed": len(receipt.Changes)})
	if receipt.Kept != nil {
		diags.AddAttributeWarning(path.Root("gitops_repo"), "The old place was not cleaned",
			fmt.Sprintf("%s holds the commit %s too: it is the same branch under another URL, or a copy of it. Nothing was removed there.", receipt.Kept, receipt.Commit))
	}
	if receipt.Removal != nil {
		appendRemoval(diags, before.Place, receipt.Removal)
	}
	appendAbandoned(diags, o, receipt.State)
	setDelivery(values, receipt.Commit, receipt.State.Proposal == nil && !receipt.State.Drifted(), receipt.PullRequest)
	return receipt.Changes, receipt.Before
}

// order is what the domain is asked to deliver.
func (o *renderingOutcome) order(author commitAuthor, before *delivery.State) *delivery.Order {
	order := &delivery.Order{
		Place:          o.place,
		Environment:    o.fleet.Environment,
		Tree:           o.tree,
		PromotedCommit: o.promoted,
		Origins:        o.origins,
		Configs:        o.fleet.Configs,
		Registrations:  o.fleet.Registrations,
		Review:         o.review,
		Adopt:          o.adopt,
		CreateBranch:   o.createBranch && o.strategy == strategyPush,
		Guardrails:     o.guardrails,
		Message:        o.message,
		Author:         gitops.Signature{Name: author.Name, Email: author.Email, When: time.Now()},
	}
	if before.Current() {
		order.Before = before
	}
	if o.strategy == strategyNone {
		order.Place = delivery.Place{} // it goes nowhere
	}
	return order
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

// Read compares what is ours on the branch with what was delivered, and keeps what it finds in private state.
func (r *environmentRendering) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	values := getObject(ctx, req.State, &resp.Diagnostics)
	before := readDelivery(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !r.data.known {
		return
	}
	ctx, cancel := within(ctx, values, timeouts.Value.Read, readTimeout, &resp.Diagnostics)
	defer cancel()
	commit, _ := values["commit_sha"].(types.String)
	request, _ := readRenderingRequest(map[string]attr.Value{
		"environment": values["environment"], "gitops_repo": values["gitops_repo"], "delivery": values["delivery"],
	})
	if request.strategy == strategyNone || commit.IsNull() && request.strategy == strategyPush {
		return
	}
	var now *delivery.State
	var pr *hosting.PullRequest
	var err error
	renamed := false
	if before.Current() && !before.Vague() {
		if before.Place.Same(request.place) {
			renamed = before.Place != request.place
			before.Place = request.place // the URL as it is written now
		}
		now, pr, err = r.follow(ctx, before, &resp.Diagnostics)
	} else {
		now, err = r.recall(ctx, values)
	}
	switch {
	case errors.Is(err, delivery.ErrRemoved):
		resp.State.RemoveResource(ctx)
	case errors.Is(err, gitops.ErrBranchNotFound):
		resp.Diagnostics.AddWarning("The branch of a rendering is gone",
			fmt.Sprintf("Environment %q was rendered to %s, and there is no such branch any more. It is planned anew.", request.fleet.Environment, request.place))
		resp.State.RemoveResource(ctx)
	case errors.Is(err, delivery.ErrNoRendering):
		// plan delivers anew
	case err != nil:
		appendDeliveryError(&resp.Diagnostics, request.place, err)
	case now != nil:
		if now != before || renamed { // else it is kept as it is
			writeDelivery(ctx, resp.Private, now, &resp.Diagnostics)
		}
		if setFound(values, now, pr) {
			resp.Diagnostics.Append(setObject(ctx, &resp.State, values)...)
		}
	}
}

// Delete removes what is ours from the branch.
func (r *environmentRendering) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	values := getObject(ctx, req.State, &resp.Diagnostics)
	before := readDelivery(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if protected(values) {
		appendProtection(&resp.Diagnostics, values)
		return
	}
	ctx, cancel := within(ctx, values, timeouts.Value.Delete, writeTimeout, &resp.Diagnostics)
	defer cancel()
	request, _ := readRenderingRequest(values)
	onDestroy, _ := values["on_destroy"].(types.String)
	commit, _ := values["commit_sha"].(types.String)
	if destructions.or(onDestroy.ValueString()) == destroyKeep || request.strategy == strategyNone || commit.IsNull() && request.strategy == strategyPush {
		return
	}
	if !before.Current() {
		before = &delivery.State{Place: request.place, Environment: request.fleet.Environment}
	}
	if r.data.claims.taken(before.Place) {
		// A resource that was renamed without a moved block, or is replaced with create_before_destroy.
		resp.Diagnostics.AddAttributeWarning(path.Root("gitops_repo"), "The tree was left to its new rendering",
			fmt.Sprintf("Another rendering of this configuration goes to %s. Nothing was removed there.", before.Place))
		return
	}
	author := gitops.Signature{Name: r.data.author.Name, Email: r.data.author.Email, When: time.Now()}
	message := "Remove the rendering of environment " + before.Environment
	if request.strategy == strategyPullRequest {
		r.withdraw(ctx, request, before, message, author, resp.Private, &resp.Diagnostics)
		return
	}
	if err := delivery.Withdraw(ctx, r.data.Client, before, message, author); err != nil {
		appendDeliveryError(&resp.Diagnostics, before.Place, err)
	}
}

func protected(values map[string]attr.Value) bool {
	v, _ := values["deletion_protection"].(types.Bool)
	return v.IsNull() || v.ValueBool()
}

func appendProtection(diags *diag.Diagnostics, values map[string]attr.Value) {
	environment, _ := values["environment"].(types.String)
	diags.AddAttributeError(path.Root("deletion_protection"), "The rendering is protected",
		fmt.Sprintf("The rendering of environment %q may not be destroyed: clusters follow its folders. If that is meant, set deletion_protection = false, apply, and destroy then.", environment.ValueString()))
}

// timeoutGetter is the timeout of one operation.
type timeoutGetter func(timeouts.Value, context.Context, time.Duration) (time.Duration, diag.Diagnostics)

// timeoutOf is the timeout of a create, or of an update where there is a state.
func timeoutOf(state map[string]attr.Value) timeoutGetter {
	if state == nil {
		return timeouts.Value.Create
	}
	return timeouts.Value.Update
}

// within bounds ctx by the timeout of an operation, or by fallback where timeouts says nothing.
func within(ctx context.Context, values map[string]attr.Value, of timeoutGetter, fallback time.Duration, diags *diag.Diagnostics) (context.Context, context.CancelFunc) {
	v, ok := values["timeouts"].(timeouts.Value)
	if !ok {
		return context.WithTimeout(ctx, fallback)
	}
	d, ds := of(v, ctx, fallback)
	diags.Append(ds...)
	return context.WithTimeout(ctx, d)
}
