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
)

// How much the data source tells.
const (
	detailFolders  = "folders"
	detailTargets  = "targets"
	detailClusters = "clusters"
)

var details = enumeration{detailFolders, detailTargets, detailClusters}

func deploymentStateSchema() schema.Schema {
	arguments := deploymentArguments()
	arguments["detail"] = details.attribute("How much is told: the folders of cluster types, with `targets` deployment targets too, with `clusters` targets and clusters.")
	arguments["timeouts"] = resource.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "How long the sources have to answer.",
		Attributes: map[string]resource.Attribute{"read": resource.StringAttribute{
			Optional: true, MarkdownDescription: fmt.Sprintf("A duration. The default is `%s`. What did not answer by then makes the verdict `pending`.", "5m"),
			Validators: []validator.String{valid{"duration", checkDuration}},
		}},
	}
	attributes := dataSourceArguments(arguments)
	maps.Copy(attributes, deploymentStateComputed())
	return schema.Schema{
		MarkdownDescription: "Whether the clusters run what a branch of the GitOps repo holds. Every run looks once and waits for nothing: what is on its " +
			"way is `pending`.\n\n" +
			"A cluster is current when the folder that it follows has, in the commit that it reports, the tree that it has at the branch's head, and had " +
			"no other one since; and when it reports that what it synced is healthy. So a commit that leaves a folder as it is makes no cluster wait. " +
			"What is unclear is never a success: it is `pending`, and named in `problems`. The guide *Does it run?* has the whole table.",
		Attributes: attributes,
	}
}

func deploymentStateComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"head":            computedText("The commit at the branch's head. Null where the branch, or a rendering's record on it, is not there."),
		"promoted_commit": computedText("The promoted commit of the record at this path. Null where there is none."),
		"complete":        schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether no rollout is under way, as the record says. Null without a head."},
		"verdict":         computedText("`success` when the verdict of all folders is, `failure` when that of one is, else `pending`. Never `success` while a rollout is under way."),
		"summary":         computedText("The state in a line, for people."),
		"observed_at":     computedText("When it was looked, by the clock of this machine."),
		"folders": schema.MapNestedAttribute{
			Computed:            true,
			MarkdownDescription: "The folders of the record's cluster types, by cluster type.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"tree_hash":   computedText("Hash of the folder's tree at head. Null where the record lists the folder and the branch does not hold it."),
				"total":       computedNumber("How many clusters follow the folder, or are expected to."),
				"current":     computedNumber("How many run the folder as it is at head, and are healthy."),
				"progressing": computedNumber("How many are on their way, or unclear."),
				"failed":      computedNumber("How many run an older tree or are unhealthy for longer than `progress_deadline`."),
				"suspended":   computedNumber("How many are suspended."),
				"stale":       computedNumber("How many have a report older than `stale_after` alone."),
				"offline":     computedNumber("How many are not connected, or do not answer."),
				"missing":     computedNumber("How many are expected and report nothing, or lack to `minimum`."),
				"verdict":     computedText("`success`, `pending` or `failure`."),
				"since":       computedText("When the folder came to its verdict, as far as the reports' own times say; else null."),
			}},
		},
		"problems": computedObjects(fmt.Sprintf("What is not as it should be, those that decide first, at most %d.", deployment.MaxProblems), map[string]schema.Attribute{
			"cluster":  computedText("The cluster. Null where it is about the folder as a whole."),
			"folder":   computedText("The folder. Null where it is not known."),
			"state":    computedText("What the cluster counts as: `failed`, `missing`, `offline`, `stale`, `suspended`, `progressing`; or `unexpected`, which is named and not counted."),
			"revision": computedText("The revision that it reports."),
			"message":  computedText("What is wrong, and the cluster's own words."),
		}),
		"targets": schema.MapNestedAttribute{
			Computed:            true,
			MarkdownDescription: "The deployment targets, over all folders. Null unless `detail` asks for it.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"current": computedNumber("On how many clusters the target's folder is current."),
				"total":   computedNumber("On how many clusters it is to be."),
			}},
		},
		"clusters": schema.MapAttribute{
			Computed: true, ElementType: types.ListType{ElemType: types.ObjectType{AttrTypes: followedTypes}},
			MarkdownDescription: "The clusters, each with the folders that it follows, the revision it reports and what it counts as. Null unless `detail` asks for it.",
		},
	}
}

// followedTypes are the attributes of what a cluster follows.
var followedTypes = map[string]attr.Type{"folder": types.StringType, "revision": types.StringType, "state": types.StringType}

// deploymentValues are the computed attributes.
func deploymentValues(seen *observe.Observation, detail string) map[string]attr.Value {
	all := values{
		"head": orNil(seen.Head), "promoted_commit": orNil(seen.PromotedCommit), "verdict": string(seen.Verdict), "summary": seen.Summary,
		"observed_at": timestamp(seen.At), "folders": folderValues(seen.Outcome.Folders), "problems": problemValues(seen.Problems),
	}
	if seen.Head != "" {
		all["complete"] = seen.Complete
	}
	if detail != detailFolders {
		targets := map[string]values{}
		for name, c := range seen.Targets {
			targets[name] = values{"current": c.Current, "total": c.Total}
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

// timestamp is a time as text, nil where there is none.
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
			"tree_hash": orNil(f.Tree), "total": f.Total, "current": f.Current, "progressing": f.Progressing, "failed": f.Failed,
			"suspended": f.Suspended, "stale": f.Stale, "offline": f.Offline, "missing": f.Missing, "verdict": string(f.Verdict), "since": timestamp(f.Since),
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
			"cluster": orNil(p.Cluster), "folder": orNil(p.Folder), "state": string(p.State), "revision": orNil(p.Revision), "message": orNil(p.Message),
		})
	}
	return all
}
