package provider

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// enumeration is the values of a string argument; the first is the default.
type enumeration []string

var (
	strategies     = enumeration{string(delivery.Push), string(delivery.PullRequest), string(delivery.ComputeOnly)}
	driftReactions = enumeration{driftFail, driftOverwrite}
	previews       = enumeration{previewAssignments, previewNone, previewManifests}
	unscheduled    = enumeration{unscheduledWarn, unscheduledIgnore, unscheduledError}
	clearSecrets   = enumeration{string(fleet.Fail), string(fleet.Warn), string(fleet.Ignore)}
	descriptions   = enumeration{string(delivery.NoDescription), string(delivery.Keys), string(delivery.Values)}
	destructions   = enumeration{destroyRemove, destroyKeep}
	moves          = enumeration{moveRemove, moveKeep}
)

const (
	driftFail      = "fail"
	driftOverwrite = "overwrite"
	// driftNamed names the changes of others where the apply is refused; nobody sets it.
	driftNamed = "named"

	previewAssignments = "assignments"
	previewNone        = "none"
	previewManifests   = "manifests"

	unscheduledWarn   = "warn"
	unscheduledIgnore = "ignore"
	unscheduledError  = "error"

	destroyRemove = "remove"
	destroyKeep   = "keep"

	moveRemove = "remove"
	moveKeep   = "keep"
)

// or is the value, or the default where there is none.
func (e enumeration) or(value string) string {
	if value == "" {
		return e[0]
	}
	return value
}

func (e enumeration) attribute(description string) schema.StringAttribute {
	quoted := make([]string, len(e))
	for i, v := range e {
		quoted[i] = "`" + v + "`"
	}
	return schema.StringAttribute{
		Optional: true,
		MarkdownDescription: fmt.Sprintf("%s One of %s; the default is `%s`.",
			description, strings.Join(quoted, ", "), e[0]),
		Validators: []validator.String{stringvalidator.OneOf(e...)},
	}
}

// pullRequestTypes are the attributes of a pull request.
var pullRequestTypes = map[string]attr.Type{
	"number":       types.Int64Type,
	"url":          types.StringType,
	"state":        types.StringType,
	"branch":       types.StringType,
	"head_commit":  types.StringType,
	"merge_commit": types.StringType,
}

var listOfStrings = types.ListType{ElemType: types.StringType}

func environmentRenderingSchema(ctx context.Context) schema.Schema {
	attributes := map[string]schema.Attribute{
		"gitops_repo": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Where the tree goes. Required unless `delivery.strategy` is `none`. Another place is an update: the tree is written there, then removed here, as `on_move` and the guardrails allow.",
			Attributes: map[string]schema.Attribute{
				"repo": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "The URL of the repo: `https://`, `ssh://` (or `git@host:path`) or `file://`. Credentials belong to the provider's `git_credentials`. Required.",
				},
				"branch": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "The branch, usually the environment's name. Required.",
				},
				"path": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "The folder of the cluster type folders, from the repo's root. The default is `.`. Two renderings on one branch need paths that do not lie in each other.",
				},
			},
		},
		sourcesAttribute: schema.MapAttribute{
			ElementType: types.StringType,
			Optional:    true,
			MarkdownDescription: "The commits at which the objects of `manifests` were read: the output `sources` of a data source, or those " +
				"of several merged. The record on the branch, `description` and its links name them. A commit that changes no object " +
				"changes nothing: then the plan keeps `sources` and `manifests` of the last change.",
		},
		"promoted_commit": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "The commit of the common objects that this environment renders. It is written to `.github/tracking/Promoted_Commit_Id`, at the repo's root.",
		},
		"promotion": promotionArgument("A `kalypso_promotion` as a whole, in place of `promoted_commit`: its commit, and why it was taken. The reason goes into the " +
			"commit message, the pull request and the record on the branch. While nothing is written, the plan keeps the value of the last change."),
		"delivery": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "How the tree gets to the branch.",
			Attributes:          deliveryAttributes(),
		},
		"adopt": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Take over folders that are there and not this rendering's: those of the cluster types, and those with the Kalypso operator's README. Otherwise they are an error. So is a rendering of this environment that the state does not know, unless its tree is the one that is rendered. The default is `false`.",
		},
		"on_drift": driftReactions.attribute("What a plan does where others changed this rendering's folders on the branch: `fail` with their paths, commits and authors, or warn and let the apply `overwrite` them."),
		"guardrails": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "What a plan may not do.",
			Attributes: map[string]schema.Attribute{
				"max_removed": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "How many deployment target folders one change may take away: a number, or a percentage of what the branch holds of this rendering. One whose files all become empty counts. The default is `50%`.",
				},
				"allow_empty": schema.BoolAttribute{
					Optional:            true,
					MarkdownDescription: "Whether a change may take all of them away, as far as `max_removed` allows, and whether the first delivery may hold none. The default is `false`.",
				},
				"require_known": schema.BoolAttribute{
					Optional:            true,
					MarkdownDescription: "Refuse a plan in which the assignments of a cluster type are not known yet. The default is `false`.",
				},
				"unscheduled": unscheduled.attribute("What to do about deployment targets that no policy places."),
				"unsatisfied": reactions.attribute("What to do about deployment targets that get fewer cluster types than `placement.number_of_cluster_types`. " +
					"Those that were placed and find no place at all any more are an error unless this is `ignore`."),
				"moved": reactions.attribute("What to do about deployment targets that leave a cluster type while they join another."),
				"secrets": clearSecrets.attribute("What to do about new and changed config values that are plainly secrets, such as private keys, " +
					"tokens, and passwords in URLs. They would lie in Git in clear; see the guide Secrets."),
			},
		},
		"limits":        limitsAttribute(),
		"rollout":       rolloutAttribute(),
		"preview":       previews.attribute("How much of the tree the plan and the state show: the assignments; with `manifests` all rendered files too; with `none` neither, for large fleets."),
		"create_branch": schema.BoolAttribute{Optional: true, MarkdownDescription: "Create the branch where it is not there. Otherwise that is an error. The default is `false`."},
		"commit_message": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "The message of the commit. The default says what changes. Another message alone causes no commit.",
		},
		"deletion_protection": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Refuse to destroy the rendering. To destroy it, apply `false` before. The default is `true`. With the strategy `none` there is nothing to protect.",
		},
		"on_destroy": destructions.attribute("Whether destroying the rendering removes its folders and record from the branch, in one commit, or keeps them."),
		"on_move":    moves.attribute("Whether another `gitops_repo` (repo, branch or path) removes folders and record from the place that the rendering leaves, or keeps them there. What is removed counts for the guardrails: all of it."),
		"timeouts":   timeouts.Attributes(ctx, timeouts.Opts{Create: true, Read: true, Update: true, Delete: true}),
	}
	maps.Copy(attributes, fleetArguments())
	maps.Copy(attributes, environmentRenderingComputed())
	return schema.Schema{
		MarkdownDescription: "Renders an environment: schedules the deployment targets of the workloads on the cluster types, merges the platform " +
			"configuration, renders the templates, and commits the tree to the environment's branch of the GitOps repo.\n\n" +
			"The plan shows what the apply commits. **Everything in the tree is committed in clear**, also what comes from sensitive values.",
		Attributes: typed(attributes),
	}
}

func deliveryAttributes() map[string]schema.Attribute {
	merges := make([]string, len(hosting.MergeMethods))
	for i, m := range hosting.MergeMethods {
		merges[i] = string(m)
	}
	autoMerge := enumeration(merges).attribute("")
	autoMerge.MarkdownDescription = "Ask GitHub to merge the pull request once its checks have passed, by `merge`, `squash` or `rebase`; where nothing is awaited, it is merged at once. The default is that people merge."
	return map[string]schema.Attribute{
		"strategy": strategies.attribute("`push` commits to the branch, `pull_request` commits to a branch of its own and opens a pull request on GitHub, `none` computes alone, and contacts and writes nothing. The other attributes but `describe` are for `pull_request`."),
		"branch_prefix": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "What the name of the pull request's branch begins with; the rest follows from environment, branch and path. The default is `" + defaultBranchPrefix + "`.",
		},
		"labels": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Labels of the pull request, besides `" + delivery.PromotedLabel + "`, which it has exactly when it changes the promoted commit.",
		},
		"reviewers": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Who is asked for a review: users, and teams of the organisation that owns the repo, such as `acme/platform`.",
		},
		"draft":          schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether the pull request is a draft. The default is `false`."},
		"auto_merge":     autoMerge,
		"wait_for_merge": schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether an apply ends only when the pull request is merged, and fails when it is closed or `timeouts` runs out; the next apply goes on waiting. The default is `false`."},
		"describe": descriptions.attribute("How much `description` tells of the configs that change: `keys`, or their `values` too, old and new, " +
			"also those that come from sensitive values: they are then in the plan, in the pull request and wherever the text is posted. With " +
			"`none` there is no `description`; a pull request has the `keys`."),
		"reopen": schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether a tree whose pull request people closed gets a new one. Otherwise the next different tree does. The default is `false`."},
	}
}

func environmentRenderingComputed() map[string]schema.Attribute {
	pullRequest := map[string]schema.Attribute{
		"number":       schema.Int64Attribute{Computed: true, MarkdownDescription: "Its number."},
		"url":          schema.StringAttribute{Computed: true, MarkdownDescription: "Where people read it."},
		"state":        schema.StringAttribute{Computed: true, MarkdownDescription: "`open`, `merged`, or `closed` without being merged."},
		"branch":       schema.StringAttribute{Computed: true, MarkdownDescription: "Its head branch."},
		"head_commit":  schema.StringAttribute{Computed: true, MarkdownDescription: "The commit at its head."},
		"merge_commit": schema.StringAttribute{Computed: true, MarkdownDescription: "The commit on the branch that merged it. Null until then."},
	}
	return map[string]schema.Attribute{
		"assignments": schema.MapAttribute{Computed: true, ElementType: mapOfStrings, MarkdownDescription: "Every cluster type with the deployment targets on it, each " +
			"with the first 12 digits of the hash of its folder: Terraform's diff shows what is added, removed and changed, and where. " +
			"Null with `preview = \"none\"`."},
		"assignment_count": schema.Int64Attribute{Computed: true, MarkdownDescription: "How many assignments there are."},
		"unscheduled":      schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "The deployment targets that no policy places."},
		"folders": schema.MapNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Every cluster type with its folder, with any `preview`.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"path":        schema.StringAttribute{Computed: true, MarkdownDescription: "The path from the repo's root, for whoever points clusters there."},
				"tree_hash":   schema.StringAttribute{Computed: true, MarkdownDescription: "The hash of the folder: of its Git tree."},
				"assignments": schema.Int64Attribute{Computed: true, MarkdownDescription: "How many deployment targets are on the cluster type."},
			}},
		},
		"files": schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Every rendered file by its path from the repo's root, but for the record. Null unless `preview` is `manifests`."},
		"description": schema.StringAttribute{
			Computed: true,
			MarkdownDescription: "What the last change did, in Markdown, for people who review it, such as in a pull request: the hashes of the " +
				"tree before and after, a graph of the assignments that change, the deployment targets of each cluster type, the promoted " +
				"commit, the commits that the objects come from, which policies place what changed, and the configs that changed. Null " +
				"unless `delivery.describe` asks for it. Known in the plan of an update. At most 16,384 characters.",
		},
		"tree_hash":        schema.StringAttribute{Computed: true, MarkdownDescription: "The hash of the Git tree whose entries are the cluster type folders alone. Equal hashes are equal trees. With `rollout`, this and `assignments`, `folders` and `files` are what the apply leaves on the branch."},
		"target_tree_hash": schema.StringAttribute{Computed: true, MarkdownDescription: "With `rollout`: the hash of the tree that the fleet renders to, which the last wave reaches. Otherwise null."},
		"rollout_status":   schema.StringAttribute{Computed: true, MarkdownDescription: "With `rollout`: the stage and the wave of the last commit. Null where there was none yet."},
		"commit_sha":       schema.StringAttribute{Computed: true, MarkdownDescription: "The commit on the branch that holds the tree. Null until there is one, and with the strategy `none`."},
		"delivered":        schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the branch holds the tree: after a push, or once the pull request is merged; with `rollout`, once it holds `target_tree_hash`. Null with the strategy `none`."},
		"pull_request":     schema.SingleNestedAttribute{Computed: true, Attributes: pullRequest, MarkdownDescription: "The pull request that brings the tree to the branch, or brought it. Null where there was none: without the strategy `pull_request`, or as the branch held the tree already."},
	}
}
