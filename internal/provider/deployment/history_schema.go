package deployment

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/historylookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

const historyDescription = "Shows the deliveries to an environment, from the history of its GitOps branch: each " +
	"commit there contains the record of the rendering. This needs no store, and also shows deliveries from before you " +
	"added the data source. With the `store` of a `kalypso_deployment_record` it also shows what the clusters " +
	"ran.\n\nA deployment is a commit that changes the tree of the rendering or the promoted commit, or all commits of " +
	"one rollout. Times are the times of the commits. A deployment counts as failed if the next one rolls it back, or " +
	"with a store if it was observed to fail.\n\n`metrics` has the four metrics of " +
	"[DORA](https://dora.dev/guides/dora-metrics-four-keys/), and `summary` a table for the job summary of a pipeline."

func historyArguments() map[string]schema.Attribute {
	store := storeArgument(false)
	store.MarkdownDescription = "The store of a `kalypso_deployment_record`, for `runs` and `versions`. Exactly one of " +
		"`git` and `postgres`."
	return map[string]schema.Attribute{
		"gitops_repo": schemas.DestinationArgument("The destination of the environment's rendering, as in its " +
			"`gitops_repo`."),
		"control_plane": schemas.ControlPlaneArgument("The branch whose commits are promoted, for `commits` and lead " +
			"times. Its first-parent history counts."),
		"until": schemas.OptionalString("End of the window, as a time of RFC 3339 such as `2026-01-31T12:00:00Z`. The "+
			"default is now. Later commits still decide which deployments failed.", schemas.Valid("time", checkTime)),
		"since": schemas.OptionalString("Start of the window: a time of RFC 3339, or a duration before `until`. The default "+
			"is `720h`, 30 days. A deployment belongs to the window in which it started.",
			schemas.Valid("time or duration", checkTimeOrDuration)),
		"store":             store,
		"cluster":           schemas.OptionalString("A cluster, to limit `runs` and `versions` to it."),
		"deployment_target": schemas.OptionalString("A deployment target, to limit `runs` and `versions` to it."),
		"limit": schema.Int64Attribute{
			Optional: true, Validators: []validator.Int64{int64validator.Between(1, 1000)},
			MarkdownDescription: fmt.Sprintf(
				"The maximum number of entries of `deployments` and of `runs`, 1 to 1000. The default is %d. The metrics count "+
					"all deployments.",
				historyLimit,
			),
		},
	}
}

func historyComputed() map[string]schema.Attribute {
	number := func(description string) schema.Float64Attribute {
		return schema.Float64Attribute{Computed: true, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"environment": schemas.ComputedText(
			"The environment that the newest record names. Null if nothing was delivered yet.",
		),
		"deployments": schemas.ComputedObjects("The deployments that started in the window, newest first.",
			map[string]schema.Attribute{
				"commit":       schemas.ComputedText("The last commit on the GitOps branch."),
				"first_commit": schemas.ComputedText("The first commit. A rollout in waves has several."),
				"started_at":   schemas.ComputedText("Time of the first commit."),
				"delivered_at": schemas.ComputedText("Time of the last commit. Null if the rollout never completed."),
				"author":       schemas.ComputedText("Author of the last commit: `Name <mail>`."),
				"kind": schemas.ComputedText(
					"`first`; `rollback` if it restores the state before the previous deployment; `promotion` if the promoted " +
						"commit changes; else `change`.",
				),
				"promoted_commit": schemas.ComputedText("The promoted commit. Null if there is none."),
				"previous_commit": schemas.ComputedText("The promoted commit of the previous deployment. Null if there is none."),
				"compare_url": schemas.ComputedText(
					"Web page that compares the two commits. Null if they are equal, and without a host that the provider knows.",
				),
				"commits": schemas.ComputedNumber(
					"The number of commits of the control plane that this deployment is the first to contain. Null without " +
						"`control_plane`, and if one of the two commits is no longer on its branch.",
				),
				"folders": schemas.ComputedTexts("The cluster types whose folders changed, sorted."),
				"changes": schemas.ComputedTexts("The objects that changed, such as `config region-eastus: DATABASE_URL` and " +
					"`template flux (new)`, in at most ten lines. Empty if the message of the commit does not name them."),
				"reason": schemas.ComputedText("Why the commit was promoted, else the subject of the commit message."),
				"decided_by": schemas.ComputedText("`rollback` if the environment was rolled back automatically. Null if gates " +
					"or people decided."),
				"lead_time_seconds": schemas.ComputedNumber(
					"Median time from these commits to `delivered_at`, in seconds. Null if " +
						"there is none.",
				),
				"running_at": schemas.ComputedText(
					"When it was first observed to succeed. Null without a store, and if it was never observed to succeed.",
				),
				"failed": schemas.ComputedBool("The next deployment is a rollback, or this one was observed to fail."),
				"failed_at": schemas.ComputedText(
					"When it was first observed to fail, else `delivered_at`, else `started_at`. Null if " +
						"it did not fail.",
				),
				"restored_at": schemas.ComputedText(
					"`running_at`, else `delivered_at`, of the first later deployment that is complete and did not fail. Null if " +
						"there is none.",
				),
			}),
		"metrics": schemas.ComputedObject("The metrics of the deployments that started in the window. A value is null if "+
			"there is nothing to count.", map[string]schema.Attribute{
			"deployments":             schemas.ComputedNumber("The number of complete deployments."),
			"deployments_per_day":     number("The same per day of the window."),
			"lead_time_seconds":       schemas.ComputedNumber("Median lead time of all commits of the deployments, in seconds."),
			"change_failure_rate":     number("The proportion of deployments that failed, 0 to 1."),
			"time_to_restore_seconds": schemas.ComputedNumber("Median time from `failed_at` to `restored_at`, in seconds."),
		}),
		"complete": schemas.ComputedBool(fmt.Sprintf("Whether the history reaches `since`. At most %d commits are read.",
			historylookup.MaxCommits)),
		"summary": schemas.ComputedText("The metrics and the deployments as Markdown."),
		"versions": schemas.ComputedObjects(
			"The versions that ran at `until`, from the store. Null without a store.",
			map[string]schema.Attribute{
				"deployment_target": schemas.ComputedText(
					"The deployment target. Empty for the folder of a cluster type itself.",
				),
				"version":   schemas.ComputedText("The version. Null if none was reported."),
				"state":     schemas.ComputedText("State of the deployment target on these clusters."),
				"clusters":  schemas.ComputedNumber("The number of clusters."),
				"since":     schemas.ComputedText("When the first of these clusters began to run it in this state."),
				"workload":  schemas.ComputedText(historyWorkload),
				"workspace": schemas.ComputedText(historyWorkspace),
			},
		),
		"runs": schemas.ComputedObjects("The runs in the window, newest first, from the store. Null without a store.",
			map[string]schema.Attribute{
				"cluster":      schemas.ComputedText("The cluster."),
				"cluster_type": schemas.ComputedText("The cluster type."),
				"deployment_target": schemas.ComputedText(
					"The deployment target. Empty for the folder of the cluster type itself.",
				),
				"version":   schemas.ComputedText("The version. Null if none was reported."),
				"commit":    schemas.ComputedText("A commit with this content. Null if it is unknown."),
				"state":     schemas.ComputedText("The state."),
				"since":     schemas.ComputedText("When it began."),
				"until":     schemas.ComputedText("When it ended. Null if it goes on."),
				"message":   schemas.ComputedText("Why it is not current. Null if nothing was reported."),
				"workload":  schemas.ComputedText(historyWorkload),
				"workspace": schemas.ComputedText(historyWorkspace),
			}),
		"truncated": schemas.ComputedBool("Whether there are more runs than `limit`. " +
			"Null without a store."),
		"recorded_until": schemas.ComputedText("Time of the last record in the store. Null without a record."),
	}
}

// Descriptions of attributes that versions and runs share.
const (
	historyWorkload  = "The workload, as its `DeploymentDescriptor` names it. Null if none does."
	historyWorkspace = "The workspace, as its `DeploymentDescriptor` names it. Null if none does."
)
