package promotion

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// statusTimeout is the default of all timeouts.
const statusTimeout = 10 * time.Minute

// NewCommitStatus returns the resource kalypso_commit_status, the status of a commit in a context.
func NewCommitStatus() resource.Resource {
	return resources.NewManaged(resources.Managed{
		Name: "commit_status", Schema: commitStatusSchema, Identity: commitStatusIdentity, Identify: identifyStatus,
		ReadTimeout: statusTimeout, WriteTimeout: statusTimeout,
		Plan: planStatus, Apply: setStatus, Read: readStatus, Import: importStatus,
		Left: "left the commit's status unchanged: statuses can't be deleted",
	})
}

// commitStatusIdentity identifies a status.
var commitStatusIdentity = resources.Identity{
	{Name: "repo", State: path.Root("repo"), Required: true, Description: "URL of the repo."},
	{
		Name:        "commit",
		State:       path.Root("commit"),
		Required:    true,
		Description: "Full hash of the commit. Null if the deployment has none yet.",
	},
	{Name: "context", State: path.Root("context"), Required: true, Description: "Context of the status."},
}

// identifyStatus returns the commit, which may come from the deployment.
func identifyStatus(_ *resources.Call, m resources.Model) map[string]string {
	if commit := statusArguments(m).Target(); commit != "" {
		return map[string]string{"commit": commit}
	}
	return nil
}

// planStatus reports errors that it can find without a request. It plans a new status if one is due. Otherwise it keeps
// the state, including the deployment.
func planStatus(ctx context.Context, c *resources.Call) resources.Model {
	wanted := statusArguments(c.Plan)
	tfvalue.AppendProblems(c.Diags, wanted.Check())
	if c.Data != nil {
		tfvalue.AppendProblems(c.Diags, c.Data.ClaimStatus(wanted, c.Config.Raw, c.State == nil))
	}
	same := githost.EqualStatus
	if url := c.Plan.Text("repo"); c.Known() && url != "" {
		if repo := c.Data.HostedRepo(url, path.Root("repo"), c.Diags); repo != nil {
			same = repo.SameStatus
		}
	}
	if c.State == nil {
		return nil
	}
	times := resources.GetPrivate[status.Times](ctx, c.Private, statusTimesKey, c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	if wanted.Due(statusArguments(c.State), times, same) {
		c.Plan.SetUnknown("set_at")
		return c.Plan
	}
	c.Plan.Keep(c.State, "set_at")
	if wanted.Deployment != nil {
		c.Plan.Keep(c.State, "deployment")
	}
	return c.Plan
}

// statusTimesKey is the key of [status.Times] in private state.
const statusTimesKey = "times"

// setStatus sets the status if it is due and there is a commit, and keeps its times in private state. The old status of
// another commit or context stays, because it can't be deleted.
func setStatus(ctx context.Context, c *resources.Call) resources.Model {
	if !c.Plan["set_at"].IsUnknown() {
		return c.Plan
	}
	wanted, set := statusArguments(c.Plan), githost.Status{}
	tfvalue.AppendProblems(c.Diags, wanted.Check())
	repo := c.Data.HostedRepo(wanted.Repo, path.Root("repo"), c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	if wanted.Target() != "" {
		var err error
		set, err = repo.SetStatus(ctx, wanted.Target(), wanted.Status())
		if err != nil {
			configuration.AppendHostError(c.Diags, path.Root("repo"), err)
			return nil
		}
		tflog.Info(ctx, "set the commit's status", map[string]any{
			"commit": wanted.Target(), "context": wanted.Context, "state": string(wanted.Status().State),
		})
	}
	c.Plan.Set(tfvalue.Values{"set_at": set.SetAt})
	resources.SetPrivate(ctx, c.Private, statusTimesKey, status.TimesOf(set), c.Diags)
	return c.Plan
}

// readStatus reads the last status in the context, by any account. The resource is gone if there is no status or the
// commit no longer exists. It reports an error if the repo is not visible.
func readStatus(ctx context.Context, c *resources.Call) resources.Model {
	last := statusArguments(c.State)
	if !c.Data.Known || last.Target() == "" {
		return nil
	}
	repo := c.Data.HostedRepo(last.Repo, path.Root("repo"), c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	found, err := repo.Status(ctx, last.Target(), last.Context)
	switch {
	case errors.Is(err, githost.ErrCommitNotFound):
		c.Diags.AddAttributeWarning(path.Root("commit"), "The commit no longer exists",
			problem.Sentence(err)+" A new status is planned.")
		c.Removed = true
	case err != nil:
		configuration.AppendHostError(c.Diags, path.Root("repo"), err)
	case found == nil:
		c.Removed = true
	default:
		observeStatus(c.State, *found, repo.SameStatus)
		resources.SetPrivate(ctx, c.Private, statusTimesKey, status.TimesOf(*found), c.Diags)
		return c.State
	}
	return nil
}

// importStatus sets what identifies a status. The following refresh reads it.
func importStatus(_ context.Context, c *resources.Call, id string, identity map[string]string) resources.Model {
	if identity != nil {
		id = status.ImportID(identity["repo"], identity["commit"], identity["context"])
	}
	repo, commit, statusContext, err := status.ParseImportID(id)
	if err != nil {
		c.Diags.AddError("Invalid import ID", problem.Sentence(err))
		return nil
	}
	if !c.Data.CheckKnown("Import reads the status, but the provider's credentials are known after apply.", c.Diags) {
		return nil
	}
	c.State.Set(tfvalue.Values{"repo": repo, "commit": commit, "context": statusContext})
	return c.State
}
