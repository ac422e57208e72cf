package source

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// baseRepoStrategies lists the strategies of a BaseRepo. The first one is the default.
var baseRepoStrategies = schemas.Enumeration{string(destination.Push), string(destination.PullRequest)}

func baseRepoSchema() schema.Schema {
	settings := schemas.DeliveryAttributes()
	delete(settings, "describe")
	settings["strategy"] = baseRepoStrategies.Attribute("`push` commits to the branch. `pull_request` commits to a " +
		"branch of its own and opens a pull request on the repo's host. The other attributes are for `pull_request`.")
	return schema.Schema{
		MarkdownDescription: "Promotes a commit to an environment that the Kalypso operator still renders: sets `commit` " +
			"of the BaseRepo in `" + document.File + "`, at the root of the environment's branch of the control plane, by " +
			"push or by pull request. All other bytes of the file stay as they are. A promotion chain can mix environments " +
			"that the operator renders and those of `kalypso_environment_rendering`. It replaces the workflows of Kalypso " +
			"that write the file; stop these for this environment.\n\nIf the branch has no such file, the apply writes one, " +
			"with the repo and the branch of the promotion. **Destroying the resource leaves the file as it is**, because " +
			"the operator renders the environment from it. It closes an open pull request.\n\nWhile the decision of the " +
			"promotion is `hold` or `up_to_date`, the pinned commit stays the same, even while the operator's own pull " +
			"request is open. While it is `frozen`, nothing is written, and an open pull request is a draft. Without a " +
			"commit, nothing is promoted yet, and nothing is written either.\n\nIf the pinned commit was changed outside " +
			"Terraform, the plan fails with the commit and its author, unless `on_drift` is `overwrite`. The operator keeps " +
			"no record of a rollback: once `pinned_commit` of the promotion is removed, name the bad commits in `rejected`.",
		Attributes: map[string]schema.Attribute{
			"repo": schemas.RequiredString("URL of the control plane's repo.", schemas.ValidRepoURL()),
			"branch": schemas.RequiredString("Branch of the environment. It must exist.",
				schemas.Valid("branch name", gitbranch.CheckName)),
			"promotion": schemas.PromotionLocationArgument(
				"Required. The whole object of a `kalypso_promotion`, with its commit and the reason. The commit message and the " +
					"pull request contain the reason. While nothing is written, the plan keeps " +
					"the value of the last change.",
			),
			"delivery": schema.SingleNestedAttribute{
				Optional: true, MarkdownDescription: "How the file is delivered to the branch.", Attributes: settings,
				Validators: []validator.Object{schemas.SetsSomething()},
			},
			"on_drift": schemas.DriftReactions.Attribute(
				"The reaction if the pinned commit was changed outside Terraform: `fail`, or `overwrite` the change.",
			),
			"commit_message": schemas.OptionalString(
				"The commit message, and the title of the pull request. By default it contains the commit and the reason of the " +
					"promotion.",
			),
			"content": schemas.ComputedText(
				"The file after the apply: on the branch, or as the pull request proposes it. Known in the plan of an update; a " +
					"create reads the file during apply.",
			),
			"commit_sha": schemas.ComputedText("The commit on the branch that pins the promoted commit. Null until then."),
			"delivered":  schemas.ComputedBool("Whether the branch pins the promoted commit."),
			"pull_request": schemas.ComputedObject("The pull request that proposes the change, or proposed it. Null without "+
				"the strategy `pull_request`, and if the branch already pinned the commit.", schemas.PullRequestAttributes()),
		},
	}
}
