package provider

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

var (
	_ resource.ResourceWithConfigure   = (*commitStatus)(nil)
	_ resource.ResourceWithModifyPlan  = (*commitStatus)(nil)
	_ resource.ResourceWithImportState = (*commitStatus)(nil)
)

// statusTimeout is the default of all timeouts.
const statusTimeout = 10 * time.Minute

// commitStatus manages the status of a commit in a context.
type commitStatus struct{ data *providerData }

func newCommitStatus() resource.Resource { return &commitStatus{} }

type commitStatusModel struct {
	Repo        types.String   `tfsdk:"repo"`
	Commit      types.String   `tfsdk:"commit"`
	Context     types.String   `tfsdk:"context"`
	State       types.String   `tfsdk:"state"`
	Description types.String   `tfsdk:"description"`
	TargetURL   types.String   `tfsdk:"target_url"`
	Timeouts    timeouts.Value `tfsdk:"timeouts"`
}

// toStatus and fromStatus convert the status. Null is the empty text; the context keeps its case.
func (m *commitStatusModel) toStatus() hosting.Status {
	return hosting.Status{
		Context: m.Context.ValueString(), State: hosting.StatusState(m.State.ValueString()),
		Description: m.Description.ValueString(), TargetURL: m.TargetURL.ValueString(),
	}
}

func (m *commitStatusModel) fromStatus(s hosting.Status) {
	m.State = types.StringValue(string(s.State))
	m.Description, m.TargetURL = nullable(s.Description), nullable(s.TargetURL)
}

func (r *commitStatus) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_commit_status"
}

func (r *commitStatus) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = commitStatusSchema(ctx)
}

func (r *commitStatus) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.data, _ = req.ProviderData.(*providerData)
}

// ModifyPlan reports what needs no request: a repo on another host.
func (r *commitStatus) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || r.data == nil || !r.data.known {
		return
	}
	var repo types.String
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("repo"), &repo)...)
	if repo.ValueString() != "" {
		r.data.hostedRepo(repo.ValueString(), path.Root("repo"), &resp.Diagnostics)
	}
}

func (r *commitStatus) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan commitStatusModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	limit, ds := plan.Timeouts.Create(ctx, statusTimeout)
	resp.Diagnostics.Append(ds...)
	r.set(ctx, plan, limit, &resp.Diagnostics)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	}
}

// Update posts another status, also for another commit or context: a status can't be withdrawn.
func (r *commitStatus) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state commitStatusModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	limit, ds := plan.Timeouts.Update(ctx, statusTimeout)
	resp.Diagnostics.Append(ds...)
	if plan.toStatus() != state.toStatus() || !plan.Repo.Equal(state.Repo) || !plan.Commit.Equal(state.Commit) {
		r.set(ctx, plan, limit, &resp.Diagnostics)
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	}
}

func (r *commitStatus) set(ctx context.Context, plan commitStatusModel, limit time.Duration, diags *diag.Diagnostics) {
	repo := r.data.hostedRepo(plan.Repo.ValueString(), path.Root("repo"), diags)
	if diags.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := repo.SetStatus(ctx, plan.Commit.ValueString(), plan.toStatus()); err != nil {
		appendHostError(diags, path.Root("repo"), err)
		return
	}
	tflog.Info(ctx, "set the commit's status", map[string]any{"commit": plan.Commit.ValueString(), "context": plan.Context.ValueString(), "state": plan.State.ValueString()})
}

// Read reads the last status in the context, whoever posted it. A context without a status, or a commit that the repo lost, is
// absence. A repo that is not visible is an error.
func (r *commitStatus) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state commitStatusModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() || !r.data.known {
		return
	}
	repo := r.data.hostedRepo(state.Repo.ValueString(), path.Root("repo"), &resp.Diagnostics)
	limit, ds := state.Timeouts.Read(ctx, statusTimeout)
	resp.Diagnostics.Append(ds...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, err := repo.Status(ctx, state.Commit.ValueString(), state.Context.ValueString())
	switch {
	case errors.Is(err, hosting.ErrCommitNotFound):
		resp.Diagnostics.AddAttributeWarning(path.Root("commit"), "The commit is gone", fleet.Sentence(err)+" Its status is planned anew.")
		resp.State.RemoveResource(ctx)
	case err != nil:
		appendHostError(&resp.Diagnostics, path.Root("repo"), err)
	case found == nil:
		resp.State.RemoveResource(ctx)
	default:
		state.fromStatus(*found)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	}
}

// Delete does nothing: GitHub keeps statuses forever.
func (r *commitStatus) Delete(ctx context.Context, _ resource.DeleteRequest, _ *resource.DeleteResponse) {
	tflog.Info(ctx, "left the commit's status as it is; statuses can't be deleted")
}

// statusImportForm is the form of an import ID. Repos may contain an @, contexts a #.
const statusImportForm = "<repo>@<commit>#<context>"

var statusImportID = regexp.MustCompile(`^(.+?)@([0-9a-f]{40})#(.+)$`)

func (r *commitStatus) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	parts := statusImportID.FindStringSubmatch(req.ID)
	if parts == nil {
		resp.Diagnostics.AddError("Invalid import ID", fmt.Sprintf("%q is not of the form %s, with the commit's full hash.", req.ID, statusImportForm))
		return
	}
	if !r.data.known {
		resp.Diagnostics.AddError("Provider configuration not known yet", "An import reads the status, and the provider's credentials are known after apply.")
		return
	}
	for i, attribute := range []string{"repo", "commit", "context"} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(attribute), parts[i+1])...)
	}
}
