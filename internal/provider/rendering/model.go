package rendering

import (
	"context"
	"maps"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// environmentRenderingModel is a plan or a state of the resource. Large collections keep the framework's own types,
// which saves a conversion; nested objects keep them because they may be unknown.
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
	Verified           types.Map      `tfsdk:"verified"`
	GitOpsRepo         types.Object   `tfsdk:"gitops_repo"`
	PromotedCommit     types.String   `tfsdk:"promoted_commit"`
	Promotion          types.Object   `tfsdk:"promotion"`
	Delivery           types.Object   `tfsdk:"delivery"`
	Adopt              types.Bool     `tfsdk:"adopt"`
	OnDrift            types.String   `tfsdk:"on_drift"`
	Guardrails         types.Object   `tfsdk:"guardrails"`
	AcceptedChanges    types.List     `tfsdk:"accepted_changes"`
	Limits             types.Object   `tfsdk:"limits"`
	Rollout            types.Object   `tfsdk:"rollout"`
	Preview            types.String   `tfsdk:"preview"`
	CreateBranch       types.Bool     `tfsdk:"create_branch"`
	CommitMessage      types.String   `tfsdk:"commit_message"`
	CommitTrailers     types.Map      `tfsdk:"commit_trailers"`
	DeletionProtection types.Bool     `tfsdk:"deletion_protection"`
	OnDestroy          types.String   `tfsdk:"on_destroy"`
	OnMove             types.String   `tfsdk:"on_move"`
	OnAssignmentError  types.String   `tfsdk:"on_assignment_error"`
	Feedback           types.Object   `tfsdk:"feedback"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`

	Assignments     types.Map    `tfsdk:"assignments"`
	AssignmentCount types.Int64  `tfsdk:"assignment_count"`
	Unscheduled     types.List   `tfsdk:"unscheduled"`
	Summary         types.Map    `tfsdk:"summary"`
	Folders         types.Map    `tfsdk:"folders"`
	Files           types.Map    `tfsdk:"files"`
	TreeHash        types.String `tfsdk:"tree_hash"`
	TargetTreeHash  types.String `tfsdk:"target_tree_hash"`

	deliveryResults
}

// deliveryResults contains the computed attributes that an apply keeps if it writes nothing.
type deliveryResults struct {
	Description types.String `tfsdk:"description"`
	CommitSHA   types.String `tfsdk:"commit_sha"`
	Delivered   types.Bool   `tfsdk:"delivered"`
	PullRequest types.Object `tfsdk:"pull_request"`
	// RolloutStatus describes the last commit.
	RolloutStatus types.String `tfsdk:"rollout_status"`
	// FeedbackStatus describes the last feedback.
	FeedbackStatus types.String `tfsdk:"feedback_status"`
}

// sameAs reports whether two models have the same values.
func (m *environmentRenderingModel) sameAs(other *environmentRenderingModel) bool {
	return reflect.DeepEqual(m, other)
}

// planResults plans the results of the apply.
func (m *environmentRenderingModel) planResults(
	ctx context.Context, decision *delivery.Decision, state *environmentRenderingModel,
) {
	applied := decision.Applied
	switch decision.Action {
	case delivery.Keep, delivery.RemoveOld, delivery.Withhold:
		m.keepResults(state, decision)
		m.keepArguments(ctx, decision, state)
		if decision.Action != delivery.Keep { // Terraform doesn't apply a plan without a change
			m.PullRequest = types.ObjectUnknown(schemas.PullRequestTypes)
		}
		return
	}
	m.CommitSHA, m.Delivered = types.StringUnknown(), types.BoolUnknown()
	m.PullRequest, m.Description = types.ObjectUnknown(schemas.PullRequestTypes), types.StringUnknown()
	switch applied.Wish.Strategy {
	case strategy.None:
		m.setDelivery("", types.BoolNull(), nil)
	case strategy.Push:
		m.PullRequest = types.ObjectNull(schemas.PullRequestTypes)
		if applied.Known > inventory.Unread {
			m.Delivered = types.BoolValue(applied.Complete)
		}
	}
	if decision.Description == inventory.Whole || applied.Wish.Review.Detail == wish.NoDescription {
		m.describe(ctx, applied, decision.Before)
	}
}

// keepPart is [keepValue] for an attribute in an object.
func keepPart(ctx context.Context, planned *types.Object, prior types.Object, name string) bool {
	given, before := planned.Attributes(), prior.Attributes()[name]
	if tfvalue.IsNull(given[name]) || tfvalue.IsNull(before) || !tfvalue.WhollyKnown(given[name]) {
		return false
	}
	given[name] = before
	*planned = types.ObjectValueMust(planned.AttributeTypes(ctx), given)
	return true
}

// keepIfOnly plans the prior value of an object if only the given attributes of it differ. These attributes may be
// null.
func keepIfOnly(ctx context.Context, planned *types.Object, prior types.Object, names ...string) bool {
	if planned.IsNull() || planned.IsUnknown() || prior.IsNull() {
		return false
	}
	given := planned.Attributes()
	for _, name := range names {
		given[name] = prior.Attributes()[name]
	}
	if !types.ObjectValueMust(planned.AttributeTypes(ctx), given).Equal(prior) {
		return false
	}
	*planned = prior
	return true
}

// keepArguments plans the values of the last apply for the arguments that keep them, if Terraform accepts that.
func (m *environmentRenderingModel) keepArguments(
	ctx context.Context, decision *delivery.Decision, state *environmentRenderingModel,
) {
	all := true
	for _, name := range decision.KeptArguments {
		all = m.keepArgument(ctx, name, state) && all
	}
	if all && decision.DecidingArgument != "" {
		m.keepArgument(ctx, decision.DecidingArgument, state)
	}
}

// keepArgument plans the prior value of an argument, or of an attribute in it. It reports whether Terraform accepts
// that.
func (m *environmentRenderingModel) keepArgument(
	ctx context.Context, name string, state *environmentRenderingModel,
) bool {
	switch name {
	case "rollout.observed":
		return keepPart(ctx, &m.Rollout, state.Rollout, "observed")
	case "rollout.pause":
		return keepIfOnly(ctx, &m.Rollout, state.Rollout, "pause", "windows")
	}
	planned, prior := reflect.ValueOf(m).Elem(), reflect.ValueOf(state).Elem()
	for i := range planned.NumField() {
		if planned.Type().Field(i).Tag.Get("tfsdk") == name {
			return keepValue(planned.Field(i), prior.Field(i))
		}
	}
	return false
}

// keepValue plans a prior value in place of the configured value, and reports whether it did. Terraform accepts that
// only if neither is null, and the configured value is known.
func keepValue(planned, prior reflect.Value) bool {
	given, _ := planned.Interface().(attr.Value)
	before, _ := prior.Interface().(attr.Value)
	if given.IsNull() || before.IsNull() || !tfvalue.WhollyKnown(given) {
		return given.IsNull() && before.IsNull()
	}
	planned.Set(prior)
	return true
}

// keepComputed keeps all computed attributes.
func (m *environmentRenderingModel) keepComputed(state *environmentRenderingModel) {
	m.Assignments, m.AssignmentCount, m.Unscheduled = state.Assignments, state.AssignmentCount, state.Unscheduled
	m.Summary = state.Summary
	m.Folders, m.Files, m.TreeHash, m.TargetTreeHash = state.Folders, state.Files, state.TreeHash, state.TargetTreeHash
	m.deliveryResults = state.deliveryResults
}

// setNothing sets the computed attributes of a rendering that has delivered nothing yet.
func (m *environmentRenderingModel) setNothing(a *wish.Arguments) {
	none := func(element attr.Type, previews ...string) types.Map {
		return m.show(element, true, func() types.Map { return types.MapValueMust(element, nil) }, previews...)
	}
	m.Assignments, m.Folders = none(mapOfStrings, detailed...), none(folderType, detailed...)
	m.Summary, m.Files = none(types.StringType, previewSummary), none(types.StringType, previewManifests)
	m.AssignmentCount = types.Int64Value(0)
	m.Unscheduled = tfvalue.StringListOf(nil)
	m.TreeHash, m.TargetTreeHash = types.StringNull(), types.StringNull()
	m.deliveryResults = deliveryResults{
		PullRequest: types.ObjectNull(schemas.PullRequestTypes),
		Delivered:   types.BoolValue(false),
	}
	if a.Strategy == strategy.None {
		m.Delivered = types.BoolNull()
	}
}

// keepResults keeps the results of the last apply that wrote. It keeps the description only if delivery.describe asks
// for one.
func (m *environmentRenderingModel) keepResults(
	state *environmentRenderingModel, decision *delivery.Decision,
) {
	m.deliveryResults = state.deliveryResults
	switch {
	case m.Rollout.IsNull():
		m.RolloutStatus = types.StringNull()
	case decision.Applied.Wish.Delivers():
		m.Delivered = types.BoolValue(decision.Applied.ReachedBy(decision.Before))
	}
	if decision.Stopped() { // the target of the last change stays until another change may begin
		m.Unscheduled, m.Delivered = state.Unscheduled, state.Delivered
		if !m.TargetTreeHash.IsNull() && !state.TargetTreeHash.IsNull() {
			m.TargetTreeHash = state.TargetTreeHash
		}
	}
	switch detail := decision.Applied.Wish.Review.Detail; {
	case detail == wish.NoDescription:
		m.Description = types.StringNull()
	case unknown.Is(string(detail)) && !m.Description.IsNull():
		m.Description = types.StringUnknown()
	}
}

// setResult sets the results of an apply. planned contains the planned results.
func (m *environmentRenderingModel) setResult(
	decision *delivery.Decision, result *remote.Result, planned deliveryResults, state *environmentRenderingModel,
) {
	switch {
	case result.Action == delivery.Keep || result.Action == delivery.RemoveOld || result.Action == delivery.Withhold:
		m.keepResults(state, decision)
		return
	case result.Applied.Wish.Strategy == strategy.None:
		m.setDelivery("", types.BoolNull(), nil)
	default:
		m.setDelivery(result.Commit, types.BoolValue(result.Applied.ReachedBy(result.State)), result.PullRequest)
	}
	if m.Description = planned.Description; m.Description.IsUnknown() {
		m.describe(context.Background(), result.Applied, result.Before) // what was delivered has to be in the state
	}
}

// setRefreshed sets the results of a refresh, and reports whether anything changed. files are the files on the branch
// after a revert; nil keeps the files of the state.
func (m *environmentRenderingModel) setRefreshed(
	ctx context.Context, found *remote.Refreshed, files map[string][]byte,
) bool {
	before := *m
	m.setDelivery(found.Commit, types.BoolValue(found.Delivered), found.PullRequest)
	if found.PullRequest == nil {
		m.PullRequest = before.PullRequest
	}
	if found.State.Reverted() {
		m.setReverted(ctx, found.State)
		m.setFiles(files, found.State.LastRead.Record.PromotedCommit)
	}
	return !m.sameAs(&before)
}

// setReverted sets the tree of the branch after people reset it to an earlier delivery. If the fleet now renders the
// same tree, the next plan is empty.
func (m *environmentRenderingModel) setReverted(ctx context.Context, s *past.State) {
	ours, record := s.OwnFolders(), s.LastRead.Record
	m.TreeHash = types.StringValue(ours.TreeHash().String())
	m.AssignmentCount = types.Int64Value(int64(ours.Count()))
	if !m.Folders.IsNull() {
		m.Folders = foldersOf(s.Destination, ours)
	}
	if !m.Assignments.IsNull() {
		m.Assignments = assignmentsOf(ours)
	}
	if !m.Summary.IsNull() {
		m.Summary = summaryOf(ours.Summary(nil, m.summary()))
	}
	m.CommitSHA = types.StringValue(s.LastRead.Head)
	m.Delivered = types.BoolValue(record.Rollout == nil || record.Rollout.Complete)
	if !m.TargetTreeHash.IsNull() {
		m.TargetTreeHash = m.TreeHash
		if record.Rollout != nil {
			m.TargetTreeHash = types.StringValue(record.Rollout.TargetTreeHash)
		}
		m.RolloutStatus = tfvalue.Nullable(past.RolloutOf(record, s.LastRead.Time).Status())
	}
	promoted := record.FinalPromotion()
	if !m.PromotedCommit.IsNull() {
		m.PromotedCommit = tfvalue.Nullable(promoted.Commit)
	}
	if m.Promotion.IsNull() {
		return
	}
	given := maps.Clone(m.Promotion.Attributes())
	for name, value := range schemas.PromotionTexts(promoted) {
		given[name] = tfvalue.Nullable(value)
	}
	given["unsettled"] = types.BoolNull()
	if promoted.Unsettled {
		given["unsettled"] = types.BoolValue(true)
	}
	m.Promotion = types.ObjectValueMust(m.Promotion.AttributeTypes(ctx), given)
}

// describe sets the description of a change if delivery.describe asks for one.
func (r *deliveryResults) describe(ctx context.Context, applied *next.Next, before *past.State) {
	r.Description = types.StringNull()
	if applied.Wish.Review.Detail != wish.NoDescription {
		r.Description = types.StringValue(delivery.Describe(ctx, applied, before))
	}
}

// setDelivery sets the results of a delivery. commit is empty if the branch does not contain the tree.
// delivered is null for a rendering that is only computed.
func (r *deliveryResults) setDelivery(commit string, delivered types.Bool, pr *githost.PullRequest) {
	r.CommitSHA, r.Delivered = tfvalue.Nullable(commit), delivered
	r.PullRequest = schemas.PullRequestValue(pr)
}
