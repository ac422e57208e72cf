package provider

import (
	"context"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// environmentRenderingModel is a plan or a state of the resource. What there may be many of stays in the framework's own types,
// and nested objects too, as they may be unknown.
type environmentRenderingModel struct {
	Environment        types.String   `tfsdk:"environment"`
	ClusterTypes       types.Map      `tfsdk:"cluster_types"`
	Templates          types.Map      `tfsdk:"templates"`
	Configs            types.Map      `tfsdk:"configs"`
	ConfigSchemas      types.Map      `tfsdk:"config_schemas"`
	SchedulingPolicies types.Map      `tfsdk:"scheduling_policies"`
	Workloads          types.Map      `tfsdk:"workloads"`
	Manifests          types.Map      `tfsdk:"manifests"`
	GitOpsRepo         types.Object   `tfsdk:"gitops_repo"`
	PromotedCommit     types.String   `tfsdk:"promoted_commit"`
	Delivery           types.Object   `tfsdk:"delivery"`
	Adopt              types.Bool     `tfsdk:"adopt"`
	OnDrift            types.String   `tfsdk:"on_drift"`
	Guardrails         types.Object   `tfsdk:"guardrails"`
	Preview            types.String   `tfsdk:"preview"`
	CreateBranch       types.Bool     `tfsdk:"create_branch"`
	CommitMessage      types.String   `tfsdk:"commit_message"`
	DeletionProtection types.Bool     `tfsdk:"deletion_protection"`
	OnDestroy          types.String   `tfsdk:"on_destroy"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`

	Assignments     types.Map    `tfsdk:"assignments"`
	AssignmentCount types.Int64  `tfsdk:"assignment_count"`
	Unscheduled     types.List   `tfsdk:"unscheduled"`
	Folders         types.Map    `tfsdk:"folders"`
	Files           types.Map    `tfsdk:"files"`
	TreeHash        types.String `tfsdk:"tree_hash"`

	deliveryResults
}

// deliveryResults are the computed attributes that an apply which writes nothing keeps.
type deliveryResults struct {
	Changes     types.Map    `tfsdk:"changes"`
	Description types.String `tfsdk:"description"`
	CommitSHA   types.String `tfsdk:"commit_sha"`
	Delivered   types.Bool   `tfsdk:"delivered"`
	PullRequest types.Object `tfsdk:"pull_request"`
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
	desired, _ := m.desired()
	return &delivery.Prior{
		TreeHash: m.TreeHash.ValueString(), PromotedCommit: m.PromotedCommit.ValueString(), Commit: m.CommitSHA.ValueString(),
		PullRequest: desired.PullRequest,
	}
}

// protected reports whether the rendering may not be destroyed.
func (m *environmentRenderingModel) protected() bool {
	return m.DeletionProtection.IsNull() || m.DeletionProtection.ValueBool()
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

// setRendered sets the computed attributes that follow from the configuration alone.
func (m *environmentRenderingModel) setRendered(r *rendering) error {
	m.Assignments, m.Folders = r.assignments(), r.folders()
	m.AssignmentCount, m.Unscheduled, m.TreeHash = types.Int64Unknown(), types.ListUnknown(types.StringType), types.StringUnknown()
	if r.Tree != nil {
		m.AssignmentCount = types.Int64Value(int64(r.Tree.Schedule.Count))
		m.Unscheduled = stringListOf(r.unscheduledTargets())
	}
	if r.Known() {
		m.TreeHash = types.StringValue(r.Tree.Hash.String())
	}
	files, err := r.files()
	m.Files = files
	return err
}

func (r *rendering) assignments() types.Map {
	switch {
	case r.preview == previewNone:
		return types.MapNull(listOfStrings)
	case r.Tree == nil || fleet.IsUnknown(r.preview):
		return types.MapUnknown(listOfStrings)
	}
	all := make(map[string]attr.Value, len(r.Tree.Folders))
	for _, folder := range r.Tree.Folders {
		targets := make([]string, len(folder.Targets))
		for i, target := range folder.Targets {
			targets[i] = target.Name
		}
		all[folder.ClusterType] = stringListOf(targets)
	}
	return types.MapValueMust(listOfStrings, all)
}

// folders follow from the names of the cluster types and the path alone.
func (r *rendering) folders() types.Map {
	unknown := types.MapUnknown(types.StringType)
	if r.fleet.Incomplete || fleet.IsUnknown(r.Destination.Path) {
		return unknown
	}
	all := make(map[string]attr.Value, len(r.fleet.ClusterTypes))
	for _, ct := range r.fleet.ClusterTypes {
		if fleet.IsUnknown(ct.Name) {
			return unknown
		}
		all[ct.Name] = types.StringValue(r.Destination.Join(ct.Name))
	}
	return types.MapValueMust(types.StringType, all)
}

// files are unknown as a whole where something not known yet may decide whether a file exists.
func (r *rendering) files() (types.Map, error) {
	unknown := types.MapUnknown(types.StringType)
	switch {
	case fleet.IsUnknown(r.preview):
		return unknown, nil
	case r.preview != previewManifests:
		return types.MapNull(types.StringType), nil
	case r.Tree == nil || anyUnknown(r.Destination.Path, r.PromotedCommit):
		return unknown, nil
	}
	all := map[string]attr.Value{}
	if r.PromotedCommit != "" {
		all[tree.PromotedCommitFile] = types.StringValue(r.PromotedCommit)
	}
	for i, folder := range r.Tree.Folders {
		for f := range r.Tree.Files(i) {
			path := r.Destination.Join(folder.ClusterType + "/" + f.Path)
			switch {
			case f.MayLack:
				return unknown, nil
			case f.Unknown:
				all[path] = types.StringUnknown()
			case !utf8.Valid(f.Content):
				return unknown, fmt.Errorf("the file %s is no UTF-8 text, which Terraform can't show; use another preview than %q", path, previewManifests)
			default:
				all[path] = types.StringValue(string(f.Content))
			}
		}
	}
	return types.MapValueMust(types.StringType, all), nil
}

// planResults plans what an apply that writes finds out. What is not known before it, is unknown.
func (m *environmentRenderingModel) planResults(strategy delivery.Strategy) {
	m.Changes, m.Description = types.MapUnknown(types.StringType), types.StringUnknown()
	m.CommitSHA, m.Delivered, m.PullRequest = types.StringUnknown(), types.BoolUnknown(), types.ObjectUnknown(pullRequestTypes)
	switch strategy {
	case delivery.ComputeOnly:
		m.setComputedOnly()
	case delivery.Push:
		m.Delivered, m.PullRequest = types.BoolValue(true), types.ObjectNull(pullRequestTypes)
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
	commit, delivered := delivery.Found(now, pr, delivery.Prior{TreeHash: m.TreeHash.ValueString(), Commit: m.CommitSHA.ValueString()})
	m.setDelivery(commit, delivered, pr)
	if pr == nil {
		m.PullRequest = before.PullRequest
	}
	return !reflect.DeepEqual(before, m.deliveryResults)
}
