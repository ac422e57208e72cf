package provider

import (
	"context"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// environmentRenderingModel is a plan or a state of the resource. What there may be many of stays in the framework's own types,
// and nested objects too, as they may be unknown.
type environmentRenderingModel struct {
	Environment        types.String   `tfsdk:"environment"`
	ClusterTypes       types.Map      `tfsdk:"cluster_types"`
	Templates          types.Map      `tfsdk:"templates"`
	Configs            types.Map      `tfsdk:"configs"`
	ConfigSchemas      types.Map      `tfsdk:"config_schemas"`
	Secrets            types.Map      `tfsdk:"secrets"`
	SchedulingPolicies types.Map      `tfsdk:"scheduling_policies"`
	Workloads          types.Map      `tfsdk:"workloads"`
	Manifests          types.Map      `tfsdk:"manifests"`
	Sources            types.Map      `tfsdk:"sources"`
	GitOpsRepo         types.Object   `tfsdk:"gitops_repo"`
	PromotedCommit     types.String   `tfsdk:"promoted_commit"`
	Promotion          types.Object   `tfsdk:"promotion"`
	Delivery           types.Object   `tfsdk:"delivery"`
	Adopt              types.Bool     `tfsdk:"adopt"`
	OnDrift            types.String   `tfsdk:"on_drift"`
	Guardrails         types.Object   `tfsdk:"guardrails"`
	Limits             types.Object   `tfsdk:"limits"`
	Rollout            types.Object   `tfsdk:"rollout"`
	Preview            types.String   `tfsdk:"preview"`
	CreateBranch       types.Bool     `tfsdk:"create_branch"`
	CommitMessage      types.String   `tfsdk:"commit_message"`
	DeletionProtection types.Bool     `tfsdk:"deletion_protection"`
	OnDestroy          types.String   `tfsdk:"on_destroy"`
	OnMove             types.String   `tfsdk:"on_move"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`

	Assignments     types.Map    `tfsdk:"assignments"`
	AssignmentCount types.Int64  `tfsdk:"assignment_count"`
	Unscheduled     types.List   `tfsdk:"unscheduled"`
	Folders         types.Map    `tfsdk:"folders"`
	Files           types.Map    `tfsdk:"files"`
	TreeHash        types.String `tfsdk:"tree_hash"`
	TargetTreeHash  types.String `tfsdk:"target_tree_hash"`

	deliveryResults
}

// deliveryResults are the computed attributes that an apply which writes nothing keeps.
type deliveryResults struct {
	Description types.String `tfsdk:"description"`
	CommitSHA   types.String `tfsdk:"commit_sha"`
	Delivered   types.Bool   `tfsdk:"delivered"`
	PullRequest types.Object `tfsdk:"pull_request"`
	// RolloutStatus tells of the last commit.
	RolloutStatus types.String `tfsdk:"rollout_status"`
}

// sameAs reports whether both have the same values.
func (m *environmentRenderingModel) sameAs(other *environmentRenderingModel) bool {
	return reflect.DeepEqual(m, other)
}

// readModel reads a plan or a state; nil where there is an error.
func readModel(ctx context.Context, from getter, diags *diag.Diagnostics) *environmentRenderingModel {
	m := &environmentRenderingModel{}
	diags.Append(from.Get(ctx, m)...)
	if diags.HasError() {
		return nil
	}
	return m
}

// prior is what the state says of the rendering, for the decision.
func (m *environmentRenderingModel) prior() *delivery.Prior {
	if m == nil {
		return nil
	}
	desired := m.desired()
	return &delivery.Prior{
		TreeHash: m.TreeHash.ValueString(), TargetTreeHash: m.TargetTreeHash.ValueString(),
		PromotedCommit: m.promoted().ValueString(), Commit: m.CommitSHA.ValueString(),
		PullRequest: desired.PullRequest,
	}
}

// protected reports whether the rendering may not be destroyed. One that is only computed has nothing to protect.
func (m *environmentRenderingModel) protected() bool {
	return (m.DeletionProtection.IsNull() || m.DeletionProtection.ValueBool()) && m.desired().Strategy != delivery.ComputeOnly
}

// timeoutGetter is the timeout of one operation.
type timeoutGetter func(timeouts.Value, context.Context, time.Duration) (time.Duration, diag.Diagnostics)

// within bounds ctx by the timeout of an operation, or by fallback where timeouts says nothing.
func (m *environmentRenderingModel) within(
	ctx context.Context, of timeoutGetter, fallback time.Duration, diags *diag.Diagnostics,
) (context.Context, context.CancelFunc) {
	d, ds := of(m.Timeouts, ctx, fallback)
	diags.Append(ds...)
	return context.WithTimeout(ctx, d)
}

// keep plans what an apply that writes nothing keeps: the results, and where the objects were read when it was written last.
// Terraform takes the prior value of an argument for the configured one, if neither is null and the configured one is known.
func (m *environmentRenderingModel) keep(state *environmentRenderingModel, o *rendering, before *delivery.State) {
	m.keepResults(state, o, before)
	if m.Preview.IsUnknown() || m.Description.IsUnknown() { // the apply renders again, from these
		return
	}
	for _, a := range []struct {
		planned *types.Map
		prior   types.Map
	}{{&m.Sources, state.Sources}, {&m.Manifests, state.Manifests}} {
		if !a.planned.IsNull() && allKnown(*a.planned) && !a.prior.IsNull() {
			*a.planned = a.prior
		}
	}
	if !m.Promotion.IsNull() && fullyKnown(m.Promotion) && !state.Promotion.IsNull() {
		m.Promotion = state.Promotion
	}
}

// fullyKnown reports whether an object and all its attributes are known.
func fullyKnown(o types.Object) bool {
	for _, v := range o.Attributes() {
		if v.IsUnknown() {
			return false
		}
	}
	return !o.IsUnknown()
}

// keepResults keeps the results of the last apply that wrote something; the description only if one is asked for.
func (m *environmentRenderingModel) keepResults(state *environmentRenderingModel, o *rendering, before *delivery.State) {
	m.deliveryResults = state.deliveryResults
	switch {
	case m.Rollout.IsNull():
		m.RolloutStatus = types.StringNull()
	case o.Delivers():
		m.Delivered = types.BoolValue(o.ReachedBy(before))
	}
	switch detail := o.Review.Detail; {
	case detail == delivery.NoDescription:
		m.Description = types.StringNull()
	case fleet.IsUnknown(string(detail)) && !m.Description.IsNull():
		m.Description = types.StringUnknown()
	}
}

// promoted returns the promoted commit, whichever argument says it.
func (m *environmentRenderingModel) promoted() types.String {
	switch {
	case m.Promotion.IsNull():
		return m.PromotedCommit
	case m.Promotion.IsUnknown():
		return types.StringUnknown()
	}
	commit, _ := m.Promotion.Attributes()["commit"].(types.String)
	return commit
}

// allKnown reports whether a map and all its elements are known.
func allKnown(m types.Map) bool {
	for _, v := range m.Elements() {
		if v.IsUnknown() {
			return false
		}
	}
	return !m.IsUnknown()
}

// kept reports whether a plan of which all is known keeps what the state says is delivered. The arguments may be those that
// [environmentRenderingModel.keep] kept, so that nothing may be decided by them again.
func (m *environmentRenderingModel) kept(state *environmentRenderingModel) bool {
	kept := m.TreeHash.Equal(state.TreeHash) && m.CommitSHA.Equal(state.CommitSHA) && m.PullRequest.Equal(state.PullRequest)
	if !m.Rollout.IsNull() && m.desired().Delivers() { // the target may change while it waits
		return kept
	}
	return kept && m.promoted().Equal(state.promoted()) && m.Delivered.Equal(state.Delivered)
}

// planResults plans what an apply that writes finds out. What is not known before it, is unknown.
func (m *environmentRenderingModel) planResults(o *rendering) {
	strategy := o.Strategy
	m.Description = types.StringUnknown()
	if o.Review.Detail == delivery.NoDescription {
		m.Description = types.StringNull()
	}
	m.CommitSHA, m.Delivered, m.PullRequest = types.StringUnknown(), types.BoolUnknown(), types.ObjectUnknown(pullRequestTypes)
	switch strategy {
	case delivery.ComputeOnly:
		m.setComputedOnly()
	case delivery.Push:
		m.PullRequest = types.ObjectNull(pullRequestTypes)
		if o.Certain() {
			m.Delivered = types.BoolValue(o.Complete())
		}
	}
}

// setComputedOnly sets the results where nothing is delivered.
func (r *deliveryResults) setComputedOnly() {
	r.setDelivery("", false, nil)
	r.Delivered = types.BoolNull()
}

// setDelivery sets what is known of a delivery; commit is empty where the branch does not hold the tree.
func (r *deliveryResults) setDelivery(commit string, delivered bool, pr *hosting.PullRequest) {
	r.CommitSHA, r.Delivered = nullable(commit), types.BoolValue(delivered)
	r.PullRequest = types.ObjectNull(pullRequestTypes)
	if pr != nil {
		r.PullRequest = types.ObjectValueMust(pullRequestTypes, map[string]attr.Value{
			"number": types.Int64Value(int64(pr.Number)), "url": types.StringValue(pr.URL), "state": types.StringValue(string(pr.State)),
			"branch": types.StringValue(pr.Branch), "head_commit": types.StringValue(pr.HeadCommit), "merge_commit": nullable(pr.MergeCommit),
		})
	}
}

// setFound sets what a refresh found of a delivery, and reports whether that is news.
func (m *environmentRenderingModel) setFound(now *delivery.State, pr *hosting.PullRequest) bool {
	before := m.deliveryResults
	commit, delivered := delivery.Found(now, pr, *m.prior())
	m.setDelivery(commit, delivered, pr)
	if pr == nil {
		m.PullRequest = before.PullRequest
	}
	return !reflect.DeepEqual(before, m.deliveryResults)
}
