package promotion

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure   = (*commitStatus)(nil)
	_ resource.ResourceWithModifyPlan  = (*commitStatus)(nil)
	_ resource.ResourceWithImportState = (*commitStatus)(nil)
)

// statusTimeout is the default of all timeouts.
const statusTimeout = 10 * time.Minute

// commitStatus manages the status of a commit in a context.
type commitStatus struct{ schemas.Resource }

// NewCommitStatus returns the resource kalypso_commit_status.
func NewCommitStatus() resource.Resource {
	return &commitStatus{schemas.NewResource("commit_status", commitStatusSchema, commitStatusIdentity)}
}

// commitStatusIdentity identifies a status.
var commitStatusIdentity = schemas.Identity{
	{Name: "repo", State: path.Root("repo"), Required: true, Description: "URL of the repo."},
	{
		Name:        "commit",
		State:       path.Root("commit"),
		Required:    true,
		Description: "Full hash of the commit. Null if the deployment has none yet.",
	},
	{Name: "context", State: path.Root("context"), Required: true, Description: "Context of the status."},
}

// identify sets the identity from a state. The commit may come from the deployment.
func (r *commitStatus) identify(
	ctx context.Context,
	state *tfsdk.State,
	to *tfsdk.ResourceIdentity,
	diags *diag.Diagnostics,
) {
	commitStatusIdentity.Set(ctx, state, to, diags)
	if to == nil || state.Raw.IsNull() {
		return
	}
	var m commitStatusModel
	diags.Append(state.Get(ctx, &m)...)
	if commit := m.arguments().Target(); commit != "" {
		diags.Append(to.SetAttribute(ctx, path.Root("commit"), commit)...)
	}
}

// ModifyPlan reports errors that it can find without a request. It plans a new status if one is due. Otherwise it keeps
// the state, including the deployment.
func (r *commitStatus) ModifyPlan(
	ctx context.Context,
	req resource.ModifyPlanRequest,
	resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() {
		return
	}
	plan := schemas.Get[commitStatusModel](ctx, req.Plan, &resp.Diagnostics)
	if plan == nil {
		return
	}
	wanted := plan.arguments()
	tfvalue.AppendProblems(&resp.Diagnostics, wanted.Check())
	if r.Data != nil {
		tfvalue.AppendProblems(&resp.Diagnostics, r.Data.ClaimStatus(wanted, req.Config.Raw, req.State.Raw.IsNull()))
	}
	same := githost.EqualStatus
	if r.Data != nil && r.Data.Known && plan.Repo.ValueString() != "" {
		if repo := r.Data.HostedRepo(plan.Repo.ValueString(), path.Root("repo"), &resp.Diagnostics); repo != nil {
			same = repo.SameStatus
		}
	}
	state := schemas.GetState[commitStatusModel](ctx, req.State, &resp.Diagnostics)
	if state == nil {
		return
	}
	times := schemas.GetPrivate[status.Times](ctx, req.Private, statusTimesKey, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.SetAt = types.StringUnknown()
	if !wanted.Due(state.arguments(), times, same) {
		plan.SetAt = state.SetAt
		if wanted.Deployment != nil {
			plan.Deployment = state.Deployment
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
}

// statusTimesKey is the key of [status.Times] in private state.
const statusTimesKey = "times"

func (r *commitStatus) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer r.identify(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	plan := schemas.Get[commitStatusModel](ctx, req.Plan, &resp.Diagnostics)
	if plan == nil {
		return
	}
	r.set(ctx, plan, timeouts.Value.Create, resp.Private, &resp.Diagnostics)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	}
}

// Update posts a new status, also for a new commit or context. The old status stays, because it can't be deleted.
func (r *commitStatus) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer r.identify(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	plan := schemas.Get[commitStatusModel](ctx, req.Plan, &resp.Diagnostics)
	if plan == nil {
		return
	}
	if plan.SetAt.IsUnknown() {
		r.set(ctx, plan, timeouts.Value.Update, resp.Private, &resp.Diagnostics)
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	}
}

// set sets the status if there is a commit, and keeps its times in private state.
func (r *commitStatus) set(
	ctx context.Context, plan *commitStatusModel, of schemas.TimeoutGetter, private schemas.PrivateState,
	diags *diag.Diagnostics,
) {
	plan.SetAt = types.StringNull()
	wanted := plan.arguments()
	tfvalue.AppendProblems(diags, wanted.Check())
	repo := r.Data.HostedRepo(wanted.Repo, path.Root("repo"), diags)
	ctx, cancel := schemas.Within(ctx, plan.Timeouts, of, statusTimeout, diags)
	defer cancel()
	switch {
	case diags.HasError():
		return
	case wanted.Target() == "":
		schemas.SetPrivate(ctx, private, statusTimesKey, status.Times{}, diags)
		return
	}
	set, err := repo.SetStatus(ctx, wanted.Target(), wanted.Status())
	if err != nil {
		configuration.AppendHostError(diags, path.Root("repo"), err)
		return
	}
	plan.SetAt = tfvalue.NullableTime(set.SetAt)
	tflog.Info(ctx, "set the commit's status", map[string]any{
		"commit": wanted.Target(), "context": wanted.Context, "state": string(wanted.Status().State),
	})
	schemas.SetPrivate(ctx, private, statusTimesKey, status.TimesOf(set), diags)
}

// Read reads the last status in the context, by any account. It removes the resource from state if there is no
// status or the commit no longer exists. It reports an error if the repo is not visible.
func (r *commitStatus) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	r.identify(ctx, &req.State, resp.Identity, &resp.Diagnostics)
	state := schemas.Get[commitStatusModel](ctx, req.State, &resp.Diagnostics)
	if state == nil || !r.Data.Known {
		return
	}
	last := state.arguments()
	if last.Target() == "" {
		return
	}
	repo := r.Data.HostedRepo(last.Repo, path.Root("repo"), &resp.Diagnostics)
	ctx, cancel := schemas.Within(ctx, state.Timeouts, timeouts.Value.Read, statusTimeout, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := repo.Status(ctx, last.Target(), last.Context)
	switch {
	case errors.Is(err, githost.ErrCommitNotFound):
		resp.Diagnostics.AddAttributeWarning(
			path.Root("commit"),
			"The commit no longer exists",
			problem.Sentence(err)+" A new status is planned.",
		)
		resp.State.RemoveResource(ctx)
	case err != nil:
		configuration.AppendHostError(&resp.Diagnostics, path.Root("repo"), err)
	case found == nil:
		resp.State.RemoveResource(ctx)
	default:
		state.observe(ctx, *found, repo.SameStatus)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		schemas.SetPrivate(ctx, resp.Private, statusTimesKey, status.TimesOf(*found), &resp.Diagnostics)
	}
}

// Delete does nothing, because statuses can't be deleted.
func (r *commitStatus) Delete(ctx context.Context, _ resource.DeleteRequest, _ *resource.DeleteResponse) {
	tflog.Info(ctx, "left the commit's status unchanged: statuses can't be deleted")
}

func (r *commitStatus) ImportState(
	ctx context.Context,
	req resource.ImportStateRequest,
	resp *resource.ImportStateResponse,
) {
	defer schemas.CleanImport(&resp.Diagnostics)
	id := req.ID
	if given := commitStatusIdentity.Imported(ctx, req, &resp.Diagnostics); given != nil {
		id = status.ImportID(given["repo"], given["commit"], given["context"])
	}
	repo, commit, statusContext, err := status.ParseImportID(id)
	if err != nil {
		resp.Diagnostics.AddError("Invalid import ID", problem.Sentence(err))
		return
	}
	if !r.Data.CheckKnown(
		"Import reads the status, but the provider's credentials are known after apply.", &resp.Diagnostics) {
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("repo"), repo)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("commit"), commit)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("context"), statusContext)...)
}
