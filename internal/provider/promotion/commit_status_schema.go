package promotion

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

func commitStatusSchema() schema.Schema {
	states := lists.Map(githost.StatusStates, func(s githost.StatusState) string { return string(s) })
	return schema.Schema{
		MarkdownDescription: "Sets the status of a commit on GitHub, GitLab, Gitea or Azure DevOps in one context, " +
			"such as `kalypso/dev`. A promotion flow sets it, and branch rules read it.\n\n" +
			"Only the last status of a context counts. So a change of the resource adds a status. An apply also adds one if " +
			"the state, the description or the URL in the context was changed outside Terraform. **Destroying the resource " +
			"leaves the commit's status unchanged:** statuses can't be deleted. GitHub removes old statuses by its retention " +
			"settings, and allows 1,000 statuses per commit and context. `kalypso_deployment_history` does not need " +
			"them.\n\nOn GitLab, a status is a job of an external pipeline, with the context as its name: `failure` can " +
			"block merge requests of the commit. `error` is `canceled` there. A `pending` status keeps its text and its time " +
			"until the next state.\n\nThe credential needs permission to write commit statuses in the repo; on GitLab the " +
			"role Developer, on Gitea the scope `write:repository`.",
		Attributes: map[string]schema.Attribute{
			"repo": schemas.RequiredString(
				"URL of the repo, such as `https://github.com/acme/gitops`, or one of its SSH forms. The "+
					"repo must be on github.com, on gitlab.com, or on the server of `base_url` in `github` or `gitlab` of the "+
					"provider.",
				schemas.ValidRepoURL(),
			),
			"commit": schemas.OptionalString("Full hash of the commit. Required without `deployment`.",
				schemas.Valid("commit", githost.CheckCommit)),
			"context": schemas.RequiredString(
				fmt.Sprintf("Name of the status, unique per commit. GitHub and Gitea ignore its case. At most %d characters.",
					status.MaxContext),
				stringvalidator.UTF8LengthBetween(1, status.MaxContext),
			),
			"state": schemas.OptionalString(
				"The state of the commit. One of "+schemas.Quoted(states)+". Required without `deployment`.",
				stringvalidator.OneOf(states...)),
			"description": schemas.OptionalString(
				fmt.Sprintf("A short text shown with the state. At most %d characters.", status.MaxDescription),
				stringvalidator.UTF8LengthBetween(1, status.MaxDescription)),
			"target_url": schemas.OptionalString("URL of a page with details, such as the pipeline's run.",
				schemas.Valid("target URL", status.CheckTargetURL)),
			"deployment": schemas.OptionalObject(
				"A whole `kalypso_deployment_state`, instead of `commit`, `state` and `description`. Its "+
					"verdict becomes the state of its `promoted_commit`. A new verdict or commit sets a new status; new counts "+
					"alone don't. Without a promoted commit, no status is set.",
				map[string]schema.Attribute{
					"promoted_commit": schemas.OptionalString("The commit."),
					"verdict":         schemas.OptionalString("The state."),
					"summary":         schemas.OptionalString("The description, shortened if needed."),
				},
			),
			"renew_after": schemas.OptionalDuration(
				"Set the status again if the last status was older than this at refresh, such as `1h`. Rules that require a " +
					"fresh status then know that the check still runs. GitHub allows 1,000 statuses per commit and context."),
			"set_at": schemas.ComputedText(
				"When the host received the last status, by its clock. Null if no status was set."),
		},
	}
}
