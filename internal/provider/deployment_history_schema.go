package provider

import (
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/lookup"
)

func deploymentHistorySchema(ctx context.Context) schema.Schema {
	attributes := dataSourceArguments(deploymentHistoryArguments())
	maps.Copy(attributes, deploymentHistoryComputed())
	attributes["timeouts"] = timeouts.AttributesWithOpts(ctx, timeouts.Opts{
		ReadDescription: "How long reading may take, as a [duration](https://pkg.go.dev/time#ParseDuration) such as `30s` " +
			"or `10m`. The default is `5m`.",
	})
	return schema.Schema{
		MarkdownDescription: "Tells what was delivered to an environment and when, from the history of its GitOps branch: " +
			"each commit there has the record of the rendering. That needs no store, and knows the time before it was " +
			"introduced, too. With the `store` of a `kalypso_deployment_record` it also tells what clusters ran.\n\nA " +
			"deployment is a commit that changes the tree of the rendering or the promoted commit, or " +
			"all commits of one rollout. Times are those of the committers. A deployment counts as failed if the next one " +
			"rolls it back, or with a store if it was observed to fail.\n\n" +
			"`metrics` has the four metrics of [DORA](https://dora.dev/guides/dora-metrics-four-keys/), and `summary` a table " +
			"for the job summary of a pipeline.",
		Attributes: attributes,
	}
}

func deploymentHistoryArguments() map[string]resource.Attribute {
	controlPlane, gitops := promotionArguments()["control_plane"], promotionArguments()["gitops_repo"]
	branch, ok := controlPlane.(resource.SingleNestedAttribute)
	rendering, ok2 := gitops.(resource.SingleNestedAttribute)
	if !ok || !ok2 {
		panic("control_plane and gitops_repo are objects")
	}
	branch.Required, branch.Optional = false, true
	branch.MarkdownDescription = "The branch whose commits are promoted, for `commits` and lead times. Its first-parent " +
		"history counts."
	store := storeArgument(false)
	store.MarkdownDescription = "The store of a `kalypso_deployment_record`, for what ran. Exactly one of `git` and " +
		"`postgres`."
	rendering.MarkdownDescription = "Where the environment's rendering goes, as in its `gitops_repo`."
	return map[string]resource.Attribute{
		"gitops_repo":   rendering,
		"control_plane": branch,
		"until": resource.StringAttribute{
			Optional: true, Validators: []validator.String{valid("time", checkTime)},
			MarkdownDescription: "End of the window, as a time of RFC 3339 such as `2026-01-31T12:00:00Z`. The default is " +
				"now. What happened later still tells which deployments failed.",
		},
		"since": resource.StringAttribute{
			Optional: true, Validators: []validator.String{valid("time or duration", checkTimeOrDuration)},
			MarkdownDescription: "Start of the window: a time of RFC 3339, or a duration before `until`. The default is " +
				"`720h`, 30 days. A deployment belongs to the window in which it started.",
		},
		"store": store,
		"cluster": resource.StringAttribute{
			Optional: true, MarkdownDescription: "A cluster: `runs` and `versions` are of it alone.",
		},
		"deployment_target": resource.StringAttribute{
			Optional: true, MarkdownDescription: "A deployment target: `runs` and `versions` are of it alone.",
		},
		"limit": resource.Int64Attribute{
			Optional: true, Validators: []validator.Int64{int64validator.Between(1, 1000)},
			MarkdownDescription: fmt.Sprintf("Most entries of `deployments` and of `runs`, 1 to 1000. The default is %d. The "+
				"metrics count all deployments.", historyLimit),
		},
	}
}

func deploymentHistoryComputed() map[string]schema.Attribute {
	number := func(description string) schema.Float64Attribute {
		return schema.Float64Attribute{Computed: true, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"environment": computedText("The environment that the newest record names. Null if nothing was delivered yet."),
		"deployments": computedObjects("The deployments that started in the window, newest first.",
			map[string]schema.Attribute{
				"commit":       computedText("The last commit on the GitOps branch."),
				"first_commit": computedText("The first commit. A rollout in waves has several."),
				"started_at":   computedText("Time of the first commit."),
				"delivered_at": computedText("Time of the last commit. Null if the rollout never completed."),
				"author":       computedText("Author of the last commit: `Name <mail>`."),
				"kind": computedText("`first`; `rollback` if it brings back what was there before the last deployment; " +
					"`promotion` if the promoted commit changes; else `change`."),
				"promoted_commit": computedText("The promoted commit. Null if there is none."),
				"previous_commit": computedText("The promoted commit of the deployment before. Null if there is none."),
				"compare_url": computedText("Web page that compares both. Null if they are equal, and without a host that " +
					"the provider knows."),
				"commits": computedNumber("The number of commits of the control plane that this deployment is the first to " +
					"bring. Null without `control_plane`, and if its branch lost one of the two commits."),
				"folders": computedTexts("The cluster types whose folders changed, sorted."),
				"reason":  computedText("Why the commit was promoted, else the subject of the commit message."),
				"lead_time_seconds": computedNumber("Median time from these commits to `delivered_at`, in seconds. Null if " +
					"there is none."),
				"running_at": computedText("When it was first observed to succeed. Null without a store, and if it was not."),
				"failed": schema.BoolAttribute{Computed: true,
					MarkdownDescription: "The next deployment is a rollback, or this one was observed to fail."},
				"failed_at": computedText("When it was first observed to fail, else `delivered_at`, else `started_at`. Null if " +
					"it did not fail."),
				"restored_at": computedText("Of the first later deployment that is complete and did not fail: `running_at`, " +
					"else `delivered_at`. Null if there is none."),
			}),
		"metrics": schema.SingleNestedAttribute{
			Computed: true, MarkdownDescription: "The metrics of the deployments that started in the window. A value is null " +
				"if there is nothing to count.",
			Attributes: map[string]schema.Attribute{
				"deployments":             computedNumber("The number of complete deployments."),
				"deployments_per_day":     number("The same per day of the window."),
				"lead_time_seconds":       computedNumber("Median lead time of all their commits, in seconds."),
				"change_failure_rate":     number("The part of the deployments that failed, 0 to 1."),
				"time_to_restore_seconds": computedNumber("Median time from `failed_at` to `restored_at`, in seconds."),
			},
		},
		"complete": schema.BoolAttribute{Computed: true, MarkdownDescription: fmt.Sprintf("Whether the history reaches "+
			"`since`. At most %d commits are read.", lookup.MaxCommits)},
		"summary": computedText("The metrics and the deployments as Markdown."),
		"versions": computedObjects("What ran at `until`, from the store. Null without one.", map[string]schema.Attribute{
			"deployment_target": computedText("The deployment target. Empty for the folder of a cluster type itself."),
			"version":           computedText("The version. Null if none was reported."),
			"state":             computedText("State of the deployment target on these clusters."),
			"clusters":          computedNumber("The number of clusters."),
			"since":             computedText("Since when the first of them ran it in this state."),
			"workload":          computedText(historyWorkload),
			"workspace":         computedText(historyWorkspace),
		}),
		"runs": computedObjects("What ran in the window, newest first, from the store. Null without one.",
			map[string]schema.Attribute{
				"cluster":           computedText("The cluster."),
				"cluster_type":      computedText("The cluster type."),
				"deployment_target": computedText("The deployment target. Empty for the folder of the cluster type itself."),
				"version":           computedText("The version. Null if none was reported."),
				"commit":            computedText("A commit with this content. Null if it is unknown."),
				"state":             computedText("The state."),
				"since":             computedText("When it began."),
				"until":             computedText("When it ended. Null if it goes on."),
				"message":           computedText("Why it is not current. Null if nothing was reported."),
				"workload":          computedText(historyWorkload),
				"workspace":         computedText(historyWorkspace),
			}),
		"truncated": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether there are more runs than `limit`. " +
			"Null without a store."},
		"recorded_until": computedText("Time of the last record in the store. Null without one."),
	}
}

// Descriptions of attributes that both a version and a run have.
const (
	historyWorkload  = "The workload, as its `DeploymentDescriptor` names it. Null if none does."
	historyWorkspace = "The workspace, as its `DeploymentDescriptor` names it. Null if none does."
)
