package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewBaseRepo returns the resource kalypso_base_repo, which makes the BaseRepo of an environment pin the promoted
// commit. When it is destroyed, the file stays: the operator renders the environment from it.
func NewBaseRepo() resource.Resource {
	return resources.NewManaged(resources.Managed{
		Name: baseRepoName, Schema: baseRepoSchema, Identity: baseRepoIdentity,
		Repo:        func(m resources.Model) string { return m.Text("repo") },
		ReadTimeout: resources.ReadTimeout, WriteTimeout: resources.WriteTimeout, Check: checkBaseRepo, Plan: planBaseRepo,
		Apply: applyBaseRepo, Read: readBaseRepo, Destroy: closeBaseRepo, Import: importBaseRepo,
	})
}

const baseRepoName = "base_repo"

// baseRepoIdentity identifies a BaseRepo by the branch that contains it.
var baseRepoIdentity = resources.Identity{
	{Name: "repo", State: path.Root("repo"), Required: true, Description: "URL of the control plane's repo."},
	{Name: "branch", State: path.Root("branch"), Required: true, Description: "Branch of the environment."},
}

// checkBaseRepo reports errors in a commit message and in a configured promotion. Other errors need the plan.
func checkBaseRepo(c *resources.Call) {
	if baseRepoKnown(c.Plan) {
		desiredBaseRepo(c.Plan, c.Diags)
	}
}

// planBaseRepo plans every computed attribute. It reads the branch only for errors and warnings.
func planBaseRepo(ctx context.Context, c *resources.Call) resources.Model {
	d := desiredBaseRepo(c.Plan, c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	if c.Data != nil {
		tfvalue.AppendProblems(c.Diags, c.Data.ClaimBaseRepo(d.At, c.Config.Raw, c.State == nil))
	}
	if !baseRepoKnown(c.Plan) {
		c.Plan.SetUnknown(baseRepoResults...)
		return c.Plan
	}
	var before *baserepo.State
	if c.State != nil {
		before = readPrior(ctx, c)
	}
	decision := baserepo.Decide(d, before)
	for _, p := range decision.Problems(d, before) { // the attributes in their order
		tfvalue.AppendProblems(c.Diags, problem.Problems{p})
	}
	planBaseRepoResults(c.Plan, c.State, d, decision)
	if decision.Write && !decision.Withhold && !c.Diags.HasError() {
		checkBranch(ctx, c, d, before)
	}
	return c.Plan
}

// checkBranch reports problems of the apply that the state can't show: missing credentials, and the contents of the
// branch.
func checkBranch(ctx context.Context, c *resources.Call, d *baserepo.Desired, before *baserepo.State) {
	if !c.Known() {
		return
	}
	if d.Strategy == destination.PullRequest {
		c.Data.CheckCredential(d.At.Repo, c.Diags)
		if c.Diags.HasError() {
			return
		}
	}
	ctx, cancel := c.Within(ctx, timeouts.Value.Read, resources.ReadTimeout)
	defer cancel()
	now, err := remote(c.Data).Check(ctx, d, before)
	if err != nil {
		appendBaseRepoError(c.Diags, d.At, err)
		return
	}
	if before == nil {
		tfvalue.AppendProblems(c.Diags, baserepo.CreateProblems(d, now))
	}
}

func remote(data *configuration.Data) baserepo.Remote {
	return baserepo.Remote{Git: data.Client, Host: data.Hosting}
}

// applyBaseRepo makes the BaseRepo pin the commit. If a create fails, the next one finds on the branch what this one
// wrote. A plan without an unknown result writes nothing.
func applyBaseRepo(ctx context.Context, c *resources.Call) resources.Model {
	var before *baserepo.State
	if c.State != nil {
		before = readPrior(ctx, c)
	}
	d := desiredBaseRepo(c.Plan, c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	if !c.Plan["commit_sha"].IsUnknown() && !c.Plan["pull_request"].IsUnknown() {
		return c.Plan
	}
	if decision := baserepo.Decide(d, before); !decision.Write { // known since the plan
		keepBaseRepoResults(c.Plan, c.State)
		return c.Plan
	}
	if schemas.AppendWindowClosed(c.Diags, d.Promotion.CheckWindow(c.Data.Now())) {
		return nil
	}
	d.Author = c.Data.Committer(nil)
	result, err := remote(c.Data).Apply(ctx, d, before)
	if err != nil {
		appendBaseRepoError(c.Diags, d.At, err)
		return nil
	}
	if result.NoDraft != "" {
		c.Diags.AddAttributeWarning(path.Root("delivery"), "The pull request is not a draft", result.NoDraft)
	}
	tflog.Info(ctx, "set the commit of the BaseRepo", map[string]any{"commit": d.Promotion.Commit, "branch": d.At.Branch})
	setBaseRepoResult(c.Plan, result)
	resources.SetPrivate(ctx, c.Private, baseRepoKey, result.State, c.Diags)
	return c.Plan
}

// readBaseRepo reads the file and the pull request, and keeps the result in the private state.
func readBaseRepo(ctx context.Context, c *resources.Call) resources.Model {
	if !c.Known() {
		return nil
	}
	before := readPrior(ctx, c)
	found, err := remote(c.Data).Refresh(ctx, before)
	switch {
	case errors.Is(err, gitbranch.ErrBranchNotFound):
		c.Diags.AddAttributeWarning(path.Root("branch"), "The branch no longer exists", fmt.Sprintf(
			"The repo %s has no branch %q any more. The plan creates the resource again, and fails until the branch exists.",
			before.At.Repo, before.At.Branch))
		c.Removed = true
		return nil
	case err != nil:
		appendBaseRepoError(c.Diags, before.At, err)
		return nil
	}
	setBaseRepoResult(c.State, found)
	resources.SetPrivate(ctx, c.Private, baseRepoKey, found.State, c.Diags)
	return c.State
}

// closeBaseRepo closes an open pull request.
func closeBaseRepo(ctx context.Context, c *resources.Call) {
	before := readPrior(ctx, c)
	if err := remote(c.Data).Forget(ctx, before); err != nil {
		appendBaseRepoError(c.Diags, before.At, err)
	}
}

// importBaseRepo reads a BaseRepo from its branch.
func importBaseRepo(ctx context.Context, c *resources.Call, id string, identity map[string]string) resources.Model {
	at := baserepo.EnvironmentBranch{Repo: identity["repo"], Branch: identity["branch"]}
	if identity == nil {
		var err error
		at, err = parseBaseRepoID(id)
		if err != nil {
			c.Diags.AddError("Invalid import ID", problem.Sentence(err))
			return nil
		}
	}
	if !c.Data.CheckKnown(
		"An import reads the control plane, and the provider's credentials are known after apply.", c.Diags) {
		return nil
	}
	found, err := remote(c.Data).Read(ctx, at)
	if err == nil && found.Commit == "" {
		_, err = document.Parse([]byte(found.File))
	}
	if err != nil {
		appendBaseRepoError(c.Diags, at, err)
		return nil
	}
	resources.SetPrivate(ctx, c.Private, baseRepoKey, found, c.Diags)
	return importedBaseRepo(c.State, found)
}

// importedBaseRepo sets the arguments that a branch contains. The other arguments stay null.
func importedBaseRepo(m resources.Model, found *baserepo.State) resources.Model {
	m.Set(tfvalue.Values{
		"repo": found.At.Repo, "branch": found.At.Branch,
		"promotion": tfvalue.Values{"commit": tfvalue.OrNil(found.Commit)},
	})
	setBaseRepoResult(m, &baserepo.Result{State: found, Commit: found.Head})
	return m
}

// appendBaseRepoError reports an error from reading or writing a branch, or from its host.
func appendBaseRepoError(diags *diag.Diagnostics, at baserepo.EnvironmentBranch, err error) {
	configuration.AppendRemoteError(diags, path.Root("repo"), err, func(err error) problem.Problem {
		return baserepo.ErrorProblem(at, err)
	})
}
