package provider

import (
	"fmt"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// The values of detail.
const (
	detailFolders  = "folders"
	detailTargets  = "targets"
	detailClusters = "clusters"
)

var details = enumeration{detailFolders, detailTargets, detailClusters}

func deploymentStateSchema() schema.Schema {
	arguments := deploymentArguments()
	arguments["detail"] = details.attribute(
		"How much to return: the folders of cluster types; with `targets` also deployment targets; with `clusters` also " +
			"targets and clusters.",
	)
	arguments["versions"] = resource.BoolAttribute{
		Optional: true,
		MarkdownDescription: "Whether to read which version of each deployment target runs. The default is `false`. The " +
			"repos that the targets take their manifests from are read with the provider's `git_credentials`. One that can't " +
			"be read is a warning, and costs its versions alone.",
	}
	arguments["timeouts"] = resource.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "Time limits.",
		Attributes: map[string]resource.Attribute{"read": resource.StringAttribute{
			Optional: true,
			MarkdownDescription: fmt.Sprintf(
				"How long the sources may take to answer, as a duration. The default is `%s`. If a source does not answer in "+
					"time, the verdict is `pending`.",
				"5m",
			),
			Validators: []validator.String{valid("duration", checkDuration)},
		}},
	}
	attributes := dataSourceArguments(arguments)
	maps.Copy(attributes, deploymentStateComputed())
	return schema.Schema{
		MarkdownDescription: "Tells whether the clusters run what a branch of the GitOps repo contains. It checks once per " +
			"run and does not wait: a deployment in progress is `pending`.\n\nA cluster is current if two conditions are " +
			"true. It reports that everything it synced is healthy. And its folder has not changed from the commit that it " +
			"reports up to the branch's head. So a commit that does not change a folder makes no cluster wait. An unclear " +
			"state is never a success: it is `pending` and listed in `problems`. The guide *Does it run?* has the full table.",
		Attributes: attributes,
	}
}

func deploymentStateComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"head": computedText(
			"The commit at the branch's head. Null if the branch or the rendering's record on it does not exist.",
		),
		"environment": computedText("The environment in the record. Null without a head."),
		"observation": schema.StringAttribute{
			Computed: true, Sensitive: true,
			MarkdownDescription: "What each cluster runs of each deployment target, as compressed JSON in one text, for a " +
				"record of deployments. Null without `versions` or a head. It is marked sensitive so that no plan prints it; it " +
				"contains no secrets.",
		},
		"promoted_commit": computedText("The promoted commit in the record at this path. Null if there is none."),
		"complete": schema.BoolAttribute{
			Computed:            true,
			MarkdownDescription: "Whether the record shows no rollout in progress. Null without a head.",
		},
		"verdict": computedText(
			"`success` if all folders have succeeded, `failure` if one has failed, else `pending`. Never `success` during a " +
				"rollout.",
		),
		"summary":     computedText("The state in one line, for people."),
		"observed_at": computedText("When the state was read, by this machine's clock."),
		"folders": schema.MapNestedAttribute{
			Computed:            true,
			MarkdownDescription: "The folders of the cluster types in the record, by cluster type.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"tree_hash": computedText(
					"Hash of the folder's tree at head. Null if the record lists the folder but the branch does not contain it.",
				),
				"total":       computedNumber("Number of clusters that follow the folder or are expected to."),
				"current":     computedNumber("Number that run the folder as at head and are healthy."),
				"progressing": computedNumber("Number that are in progress or unclear."),
				"failed": computedNumber(
					"Number that run an older tree or are unhealthy for longer than `progress_deadline`.",
				),
				"suspended": computedNumber("Number that are suspended."),
				"stale":     computedNumber("Number whose reports are all older than `stale_after`."),
				"offline":   computedNumber("Number that are disconnected or do not answer."),
				"missing":   computedNumber("Number that are expected but don't report, or that are missing from `minimum`."),
				"verdict":   computedText("`success`, `pending` or `failure`."),
				"since": computedText(
					"When the folder reached its verdict, as far as the reports' own times tell, else null.",
				),
			}},
		},
		"problems": computedObjects(
			fmt.Sprintf("What is wrong, the most important first, at most %d.", deployment.MaxProblems),
			map[string]schema.Attribute{
				"cluster": computedText("The cluster. Null if the problem concerns the whole folder."),
				"folder":  computedText("The folder. Null if it is unknown."),
				"state": computedText(
					"State of the cluster: `failed`, `missing`, `offline`, `stale`, `suspended`, `progressing`, or `unexpected`, " +
						"which is not counted.",
				),
				"revision": computedText("The revision that the cluster reports."),
				"message":  computedText("What is wrong, with the cluster's own message."),
			},
		),
		"targets": schema.MapNestedAttribute{
			Computed:            true,
			MarkdownDescription: "The deployment targets, over all folders. Null unless `detail` asks for it.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"current": computedNumber("Number of clusters on which the target's folder is current."),
				"total":   computedNumber("Number of clusters that should run it."),
				"versions": schema.MapAttribute{
					Computed:    true,
					ElementType: types.Int64Type,
					MarkdownDescription: "The versions that run, each with its number of clusters. A cluster that reports no " +
						"version is left out. Null without `versions`.",
				},
			}},
		},
		"clusters": schema.MapAttribute{
			Computed:    true,
			ElementType: types.ListType{ElemType: types.ObjectType{AttrTypes: followedTypes}},
			MarkdownDescription: "The clusters, each with the folders that it follows, the revision that it reports and its " +
				"state. Null unless `detail` asks for it.",
		},
	}
}

// followedTypes lists the attributes of a folder that a cluster follows.
var followedTypes = map[string]attr.Type{
	"folder":   types.StringType,
	"revision": types.StringType,
	"state":    types.StringType,
}

// deploymentValues returns the computed attributes.
func deploymentValues(seen *observe.Observation, detail string) map[string]attr.Value {
	all := values{
		"head": orNil(
			seen.Head,
		),
		"environment":     orNil(seen.Environment),
		"promoted_commit": orNil(seen.PromotedCommit),
		"verdict":         string(seen.Verdict),
		"summary":         seen.Summary,
		"observed_at": timestamp(
			seen.At,
		),
		"folders":  folderValues(seen.Outcome.Folders),
		"problems": problemValues(seen.Problems),
	}
	if seen.Head != "" {
		all["complete"] = seen.Complete
	}
	if seen.Versions != nil {
		all["observation"] = seen.Versions.Encode()
	}
	if detail != detailFolders {
		var running map[string]map[string]int
		if seen.Versions != nil {
			running = seen.Versions.Targets()
		}
		targets := map[string]values{}
		for name, c := range seen.Targets {
			targets[name] = values{"current": c.Current, "total": c.Total}
			if running != nil {
				targets[name]["versions"] = counts(running[name])
			}
		}
		all["targets"] = targets
	}
	if detail == detailClusters {
		all["clusters"] = clusterValues(seen.Clusters)
	}
	results := map[string]attr.Value{}
	for name, attribute := range deploymentStateComputed() {
		results[name] = result(attribute.GetType(), all[name])
	}
	return results
}

// counts converts numbers by name.
func counts(numbers map[string]int) attr.Value {
	all := map[string]attr.Value{}
	for name, n := range numbers {
		all[name] = types.Int64Value(int64(n))
	}
	return types.MapValueMust(types.Int64Type, all)
}

// timestamp formats a time, or returns nil for the zero time.
func timestamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func folderValues(folders map[string]deployment.FolderState) map[string]values {
	all := map[string]values{}
	for name, f := range folders {
		all[name] = values{
			"tree_hash":   orNil(f.Tree),
			"total":       f.Total,
			"current":     f.Current,
			"progressing": f.Progressing,
			"failed":      f.Failed,
			"suspended":   f.Suspended,
			"stale":       f.Stale,
			"offline":     f.Offline,
			"missing":     f.Missing,
			"verdict":     string(f.Verdict),
			"since":       timestamp(f.Since),
		}
	}
	return all
}

func clusterValues(clusters map[string][]deployment.Followed) map[string][]values {
	all := map[string][]values{}
	for name, follows := range clusters {
		for _, f := range follows {
			all[name] = append(all[name], values{"folder": f.Folder, "revision": orNil(f.Revision), "state": string(f.State)})
		}
	}
	return all
}

func problemValues(problems []deployment.Problem) []values {
	all := []values{}
	for _, p := range problems[:min(len(problems), deployment.MaxProblems)] {
		all = append(all, values{
			"cluster":  orNil(printable.Line(p.Cluster)),
			"folder":   orNil(printable.Line(p.Folder)),
			"state":    string(p.State),
			"revision": orNil(p.Revision),
			"message":  orNil(p.Message),
		})
	}
	return all
}
