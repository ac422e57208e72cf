package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure      = (*baseRepo)(nil)
	_ resource.ResourceWithValidateConfig = (*baseRepo)(nil)
	_ resource.ResourceWithModifyPlan     = (*baseRepo)(nil)
	_ resource.ResourceWithImportState    = (*baseRepo)(nil)
	_ resource.ResourceWithIdentity       = (*baseRepo)(nil)
)

// baseRepo makes the BaseRepo of an environment pin the promoted commit.
type baseRepo struct{ schemas.Resource }

// NewBaseRepo returns the resource kalypso_base_repo.
func NewBaseRepo() resource.Resource { return newBaseRepo() }

func newBaseRepo() *baseRepo {
	return &baseRepo{schemas.NewResource("base_repo", baseRepoSchema, baseRepoIdentity)}
}

// baseRepoIdentity identifies a BaseRepo by the branch that contains it.
var baseRepoIdentity = schemas.Identity{
	{Name: "repo", State: path.Root("repo"), Required: true, Description: "URL of the control plane's repo."},
	{Name: "branch", State: path.Root("branch"), Required: true, Description: "Branch of the environment."},
}

// ValidateConfig reports errors in a commit message and in a configured promotion. Other errors need the plan.
func (r *baseRepo) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	if m := schemas.Get[baseRepoModel](ctx, req.Config, &resp.Diagnostics); m != nil && m.known() {
		m.desired(&resp.Diagnostics)
	}
}

// ModifyPlan plans every computed attribute. Terraform calls it again during apply. So planned values that are known
// depend on the configuration, the prior state and the private state alone. It reads the branch only for errors and
// warnings.
func (r *baseRepo) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() {
		return
	}
	diags := &resp.Diagnostics
	defer r.Data.TranslatePullRequest(ctx, req.Plan, path.Root("repo"), diags)
	plan := schemas.Get[baseRepoModel](ctx, req.Plan, diags)
	state := schemas.GetState[baseRepoModel](ctx, req.State, diags)
	if diags.HasError() {
		return
	}
	d := plan.desired(diags)
	if diags.HasError() {
		return
	}
	if r.Data != nil {
		tfvalue.AppendProblems(diags, r.Data.ClaimBaseRepo(d.At, req.Config.Raw, state == nil))
	}
	if !plan.known() {
		plan.unknownResults()
		diags.Append(resp.Plan.Set(ctx, plan)...)
		return
	}
	var before *baserepo.State
	if state != nil {
		before = readBaseRepo(ctx, req.Private, state, diags)
	}
	decision := baserepo.Decide(d, before)
	for _, p := range report.Decision(d, before, decision) { // the attributes in their order
		tfvalue.AppendProblems(diags, problem.Problems{p})
	}
	plan.plan(d, decision, state)
	if decision.Write && !decision.Withhold && !diags.HasError() {
		r.check(ctx, plan, d, before, diags)
	}
	if !diags.HasError() {
		diags.Append(resp.Plan.Set(ctx, plan)...)
	}
}

// check reports problems of the apply that the state can't show: missing credentials, and the contents of the branch.
func (r *baseRepo) check(
	ctx context.Context, plan *baseRepoModel, d *baserepo.Desired, before *baserepo.State, diags *diag.Diagnostics,
) {
	if r.Data == nil || !r.Data.Known {
		return
	}
	if d.Strategy == strategy.PullRequest {
		if r.Data.CheckCredential(d.At.Repo, diags); diags.HasError() {
			return
		}
	}
	ctx, cancel := schemas.Within(ctx, plan.Timeouts, timeouts.Value.Read, schemas.ReadTimeout, diags)
	defer cancel()
	now, err := r.remote().Check(ctx, d, before)
	if err != nil {
		appendBaseRepoError(diags, d.At, err)
		return
	}
	if before == nil {
		tfvalue.AppendProblems(diags, report.Created(d, now))
	}
}

func (r *baseRepo) remote() baserepo.Remote {
	return baserepo.Remote{Git: r.Data.Client, Host: r.Data.Hosting}
}

// Create makes the BaseRepo pin the commit. If it fails, there is no state; the next create finds on the branch what
// this one wrote.
func (r *baseRepo) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer r.Data.TranslatePullRequest(ctx, req.Plan, path.Root("repo"), &resp.Diagnostics)
	defer baseRepoIdentity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	r.apply(ctx, req.Plan, nil, nil, timeouts.Value.Create, &resp.State, resp.Private, &resp.Diagnostics)
}

// Update makes the BaseRepo pin another commit. A plan without an unknown result writes nothing.
func (r *baseRepo) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer r.Data.TranslatePullRequest(ctx, req.Plan, path.Root("repo"), &resp.Diagnostics)
	defer baseRepoIdentity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	state := schemas.Get[baseRepoModel](ctx, req.State, &resp.Diagnostics)
	if state == nil {
		return
	}
	before := readBaseRepo(ctx, req.Private, state, &resp.Diagnostics)
	if !resp.Diagnostics.HasError() {
		r.apply(ctx, req.Plan, state, before, timeouts.Value.Update, &resp.State, resp.Private, &resp.Diagnostics)
	}
}

func (r *baseRepo) apply(
	ctx context.Context,
	from tfsdk.Plan,
	state *baseRepoModel,
	before *baserepo.State,
	of schemas.TimeoutGetter,
	to *tfsdk.State,
	private schemas.PrivateState,
	diags *diag.Diagnostics,
) {
	plan := schemas.Get[baseRepoModel](ctx, from, diags)
	if plan == nil {
		return
	}
	d := plan.desired(diags)
	ctx, cancel := schemas.Within(ctx, plan.Timeouts, of, schemas.WriteTimeout, diags)
	defer cancel()
	if diags.HasError() {
		return
	}
	if !plan.CommitSHA.IsUnknown() && !plan.PullRequest.IsUnknown() {
		diags.Append(to.Set(ctx, plan)...)
		return
	}
	if decision := baserepo.Decide(d, before); !decision.Write { // known since the plan
		plan.keepResults(state)
		diags.Append(to.Set(ctx, plan)...)
		return
	}
	if schemas.AppendWindowClosed(diags, d.Promotion.CheckWindow(r.Data.Now())) {
		return
	}
	d.Author = r.Data.Committer(nil)
	result, err := r.remote().Apply(ctx, d, before)
	if err != nil {
		appendBaseRepoError(diags, d.At, err)
		return
	}
	if result.NoDraft != "" {
		diags.AddAttributeWarning(path.Root("delivery"), "The pull request is not a draft", result.NoDraft)
	}
	tflog.Info(ctx, "set the commit of the BaseRepo", map[string]any{"commit": d.Promotion.Commit, "branch": d.At.Branch})
	plan.setResult(result)
	diags.Append(to.Set(ctx, plan)...)
	schemas.SetPrivate(ctx, private, baseRepoKey, result.State, diags)
}

// Read reads the file and the pull request, and keeps the result in the private state.
func (r *baseRepo) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	baseRepoIdentity.Set(ctx, &req.State, resp.Identity, &resp.Diagnostics)
	diags := &resp.Diagnostics
	defer r.Data.TranslatePullRequest(ctx, req.State, path.Root("repo"), diags)
	state := schemas.Get[baseRepoModel](ctx, req.State, diags)
	if state == nil || r.Data == nil || !r.Data.Known {
		return
	}
	before := readBaseRepo(ctx, req.Private, state, diags)
	ctx, cancel := schemas.Within(ctx, state.Timeouts, timeouts.Value.Read, schemas.ReadTimeout, diags)
	defer cancel()
	found, err := r.remote().Refresh(ctx, before)
	switch {
	case errors.Is(err, gitbranch.ErrBranchNotFound):
		diags.AddAttributeWarning(path.Root("branch"), "The branch no longer exists", fmt.Sprintf(
			"The repo %s has no branch %q any more. The plan creates the resource again, and fails until the branch exists.",
			before.At.Repo, before.At.Branch))
		resp.State.RemoveResource(ctx)
	case err != nil:
		appendBaseRepoError(diags, before.At, err)
	default:
		if state.setResult(found) {
			diags.Append(resp.State.Set(ctx, state)...)
		}
		schemas.SetPrivate(ctx, resp.Private, baseRepoKey, found.State, diags)
	}
}

// Delete closes an open pull request. The file stays: the operator renders the environment from it.
func (r *baseRepo) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer r.Data.TranslatePullRequest(ctx, req.State, path.Root("repo"), &resp.Diagnostics)
	state := schemas.Get[baseRepoModel](ctx, req.State, &resp.Diagnostics)
	if state == nil {
		return
	}
	before := readBaseRepo(ctx, req.Private, state, &resp.Diagnostics)
	ctx, cancel := schemas.Within(ctx, state.Timeouts, timeouts.Value.Delete, schemas.WriteTimeout, &resp.Diagnostics)
	defer cancel()
	if err := r.remote().Forget(ctx, before); err != nil {
		appendBaseRepoError(&resp.Diagnostics, before.At, err)
	}
}

// ImportState reads a BaseRepo from its branch.
func (r *baseRepo) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	defer schemas.CleanImport(&resp.Diagnostics)
	diags := &resp.Diagnostics
	var at baserepo.EnvironmentBranch
	if given := baseRepoIdentity.Imported(ctx, req, diags); given != nil {
		at = baserepo.EnvironmentBranch{Repo: given["repo"], Branch: given["branch"]}
	} else {
		var err error
		if at, err = parseBaseRepoID(req.ID); err != nil {
			diags.AddError("Invalid import ID", problem.Sentence(err))
			return
		}
	}
	if !r.Data.CheckKnown(
		"An import reads the control plane, and the provider's credentials are known after apply.", diags) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, schemas.ReadTimeout)
	defer cancel()
	found, err := r.remote().Read(ctx, at)
	if err == nil && found.Commit == "" {
		_, err = document.Parse([]byte(found.File))
	}
	if err != nil {
		appendBaseRepoError(diags, at, err)
		return
	}
	setImportedBaseRepo(ctx, &resp.State, found, diags)
	schemas.SetPrivate(ctx, resp.Private, baseRepoKey, found, diags)
}

// setImportedBaseRepo sets the arguments that a branch contains. The other arguments stay null.
func setImportedBaseRepo(
	ctx context.Context,
	to schemas.ImportedResource,
	found *baserepo.State,
	diags *diag.Diagnostics,
) {
	diags.Append(to.SetAttribute(ctx, path.Root("repo"), found.At.Repo)...)
	diags.Append(to.SetAttribute(ctx, path.Root("branch"), found.At.Branch)...)
	diags.Append(to.SetAttribute(ctx, path.Root("promotion").AtName("commit"), tfvalue.Nullable(found.Commit))...)
	state := schemas.Get[baseRepoModel](ctx, to, diags)
	if state == nil {
		return
	}
	state.PullRequest = types.ObjectNull(schemas.PullRequestTypes)
	state.setResult(&baserepo.Result{State: found, Commit: found.Head})
	diags.Append(to.Set(ctx, state)...)
}

// appendBaseRepoError reports an error from reading or writing a branch, or from its host.
func appendBaseRepoError(diags *diag.Diagnostics, at baserepo.EnvironmentBranch, err error) {
	var host *githost.Error
	switch {
	case configuration.AppendHostSettingsError(diags, err):
	case errors.As(err, &host):
		configuration.AppendHostError(diags, path.Root("repo"), err)
	default:
		tfvalue.AppendProblems(diags, problem.Problems{report.Error(at, err)})
	}
}
