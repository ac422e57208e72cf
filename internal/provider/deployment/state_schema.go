package deployment

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// The values of detail.
const (
	detailFolders  = "folders"
	detailTargets  = "targets"
	detailClusters = "clusters"
)

var details = schemas.Enumeration{detailFolders, detailTargets, detailClusters}

const stateDescription = "Shows whether the clusters run the contents of a branch of the GitOps repo. It checks once " +
	"per run and does not wait: a deployment in progress is `pending`.\n\nA cluster is current if two conditions are " +
	"true. It reports that everything it synced is healthy. And its folder has not changed from the commit that it " +
	"reports up to the branch's head. So no cluster has to catch up with a commit that does not change its folder. " +
	"An unclear state is never a success: it is `pending` and listed in `problems`. The guide *Does it run?* has the " +
	"full table."

func stateArguments() map[string]schema.Attribute {
	attributes := schemas.ObservedArguments()
	attributes["detail"] = details.Attribute(
		"How much to return: by default the folders of cluster types; with `targets` also the deployment targets; with " +
			"`clusters` the clusters too.",
	)
	attributes["versions"] = schemas.OptionalBool(
		"Whether to read which version of each deployment target runs. The default is `false`. The " +
			"repos that the targets take their manifests from are read with the provider's `git_credentials`. If a repo " +
			"can't be read, only its versions are missing, with a warning.")
	return attributes
}

func stateComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"head": schemas.ComputedText(
			"The commit at the branch's head. Null if the branch or the rendering's record on it does not exist.",
		),
		"environment": schemas.ComputedText("The environment in the record. Null without a head."),
		"observation": schemas.ComputedText(
			"The version of each deployment target on each cluster, as compressed JSON in one text, for a record of " +
				"deployments. Null without `versions` or a head. It contains no secrets.",
		),
		"promoted_commit": schemas.ComputedText("The promoted commit in the record at this path. Null if there is none."),
		"complete":        schemas.ComputedBool("Whether the record shows no rollout in progress. Null without a head."),
		"verdict": schemas.ComputedText(
			"`success` if all folders have succeeded, `failure` if one has failed, else `pending`. Never `success` during a " +
				"rollout.",
		),
		"summary":     schemas.ComputedText("The state in one line, for people."),
		"observed_at": schemas.ComputedText("When the state was read, by this machine's clock."),
		"folders": schemas.ComputedObjectMap(
			"The folders of the cluster types in the record, by cluster type.",
			map[string]schema.Attribute{
				"tree_hash": schemas.ComputedText(
					"Hash of the folder's tree at head. Null if the record lists the folder but the branch does not contain it.",
				),
				"total":       schemas.ComputedNumber("Number of clusters that follow the folder or are expected to."),
				"current":     schemas.ComputedNumber("Number of clusters that run the folder as at head and are healthy."),
				"progressing": schemas.ComputedNumber("Number of clusters that are in progress or unclear."),
				"failing": schemas.ComputedNumber(
					"Number of clusters in `progressing` that report a failure. They count as failed after `progress_deadline`.",
				),
				"failed": schemas.ComputedNumber(
					"Number of clusters that run an older tree, or are unhealthy, for longer than `progress_deadline`.",
				),
				"suspended": schemas.ComputedNumber("Number of suspended clusters."),
				"stale":     schemas.ComputedNumber("Number of clusters whose reports are all older than `stale_after`."),
				"offline":   schemas.ComputedNumber("Number of clusters that are disconnected or do not answer."),
				"missing": schemas.ComputedNumber(
					"Number of clusters that are expected but don't report, or that `minimum` requires in addition.",
				),
				"verdict": schemas.ComputedText("`success`, `pending` or `failure`."),
				"since": schemas.ComputedText(
					"When the folder reached its verdict, if the reports contain the time, else null.",
				),
			},
		),
		"problems": schemas.ComputedObjects(
			fmt.Sprintf("The problems, the most important first, at most %d.", deployment.MaxProblems),
			map[string]schema.Attribute{
				"cluster": schemas.ComputedText("The cluster. Null if the problem concerns the whole folder."),
				"folder":  schemas.ComputedText("The folder. Null if it is unknown."),
				"state": schemas.ComputedText(
					"State of the cluster: `failed`, `missing`, `offline`, `stale`, `suspended`, `progressing`, or `unexpected`, " +
						"which is not counted.",
				),
				"revision": schemas.ComputedText("The revision that the cluster reports."),
				"message":  schemas.ComputedText("Description of the problem, with the cluster's own message."),
				"failing": schemas.ComputedBool(
					"Whether the cluster is `progressing` and reports a failure. It counts as failed after " +
						"`progress_deadline`.",
				),
			},
		),
		"targets": schemas.ComputedObjectMap(
			"The deployment targets, over all folders. Null unless `detail` asks for it.",
			map[string]schema.Attribute{
				"current": schemas.ComputedNumber(
					"Number of clusters on which the cluster type's folder is current and the target has not failed.",
				),
				"failed": schemas.ComputedNumber(
					"Number of clusters that report a failure of the target or of the cluster type's folder, also before " +
						"`progress_deadline`.",
				),
				"total": schemas.ComputedNumber("Number of clusters that should run it."),
				"versions": schemas.ComputedMap("The versions that run, each with its number of clusters. A cluster that "+
					"reports no version is left out. Null without `versions`.", types.Int64Type),
			},
		),
		"clusters": schemas.ComputedMap("The clusters, each with the folders that it follows, the revision that it reports "+
			"and its state. Null unless `detail` asks for it.",
			types.ListType{ElemType: types.ObjectType{AttrTypes: followedTypes}}),
	}
}

// followedTypes lists the attributes of a folder that a cluster follows.
var followedTypes = map[string]attr.Type{
	"folder":   types.StringType,
	"revision": types.StringType,
	"state":    types.StringType,
}

// deploymentValues returns the computed attributes.
func deploymentValues(seen *observe.Observation, detail string) tfvalue.Values {
	all := tfvalue.Values{
		"head":            tfvalue.OrNil(seen.Branch.Head),
		"environment":     tfvalue.OrNil(seen.Branch.Environment),
		"promoted_commit": tfvalue.OrNil(seen.Branch.PromotedCommit),
		"verdict":         string(seen.Outcome.Verdict),
		"summary":         seen.Outcome.Summary,
		"observed_at":     seen.At,
		"folders":         seen.Outcome.Folders,
		"problems":        shownProblems(seen.Outcome.Problems),
	}
	if seen.Branch.Head != "" {
		all["complete"] = seen.Branch.Complete
	}
	if seen.Versions != nil {
		all["observation"] = seen.Versions.Encode()
	}
	if detail != detailFolders {
		targets := map[string]tfvalue.Values{}
		for name, c := range seen.Outcome.Targets {
			targets[name] = tfvalue.ValuesOf(c)
			if c.Versions == nil {
				targets[name]["versions"] = nil
			}
		}
		all["targets"] = targets
	}
	if detail == detailClusters {
		all["clusters"] = seen.Outcome.Clusters
	}
	return all
}

// shownProblems returns the problems that the attribute shows.
func shownProblems(all []deployment.Problem) []deployment.Problem {
	return lists.Map(all[:min(len(all), deployment.MaxProblems)], func(p deployment.Problem) deployment.Problem {
		p.Cluster, p.Folder = printable.Line(p.Cluster), printable.Line(p.Folder)
		return p
	})
}
