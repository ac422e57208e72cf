package provider

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pullrequest"
)

// enumeration lists the values of a string argument. The first one is the default.
type enumeration []string

var (
	previews         = enumeration{previewAssignments, previewNone, previewManifests}
	reactions        = enumeration(problem.Reactions)
	clearSecrets     = enumeration{string(problem.Fail), string(problem.Warn), string(problem.Ignore)}
	destructions     = enumeration{destroyRemove, destroyKeep}
	moves            = enumeration{moveRemove, moveKeep}
	assignmentErrors = enumeration{string(delivery.AssignmentErrorFail), string(delivery.AssignmentErrorKeep)}
)

const (
	previewAssignments = "assignments"
	previewNone        = "none"
	previewManifests   = "manifests"

	destroyRemove = "remove"
	destroyKeep   = "keep"

	moveRemove = "remove"
	moveKeep   = "keep"
)

// strategies lists how a tree or a file reaches its branch.
var strategies = enumeration{string(delivery.Push), string(delivery.PullRequest), string(delivery.ComputeOnly)}

// driftReactions lists the reactions to a branch that others changed.
var driftReactions = enumeration{string(delivery.DriftFail), string(delivery.DriftOverwrite)}

// descriptions lists what a description of the changes tells.
var descriptions = enumeration{string(delivery.NoDescription), string(delivery.Keys), string(delivery.Values)}

// or returns the value, or the default if it is empty.
func (e enumeration) or(value string) string {
	if value == "" {
		return e[0]
	}
	return value
}

// attribute returns an optional argument that takes these values. The first is the default.
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

// pullRequestTypes are the types of the attributes of a pull request.
var pullRequestTypes = objectOf(pullRequestAttributes()).AttrTypes

// listOfStrings is the type of a list of strings.
var listOfStrings = types.ListType{ElemType: types.StringType}

func environmentRenderingSchema(ctx context.Context) schema.Schema {
	attributes := map[string]schema.Attribute{
		"gitops_repo": schema.SingleNestedAttribute{
			Optional: true,
			MarkdownDescription: "The destination of the tree. Required unless `delivery.strategy` is `none`. Another " +
				"destination is an update: the apply writes the tree there, then removes it here, as `on_move` and the " +
				"guardrails allow.",
			Attributes: map[string]schema.Attribute{
				"repo": optionalString(
					"The URL of the repo: `https://`, `ssh://` (or `git@host:path`) or `file://`. Credentials belong to the " +
						"provider's `git_credentials`. Required."),
				"branch": optionalString("The branch, usually the environment's name. Required."),
				"path": optionalString(
					"The folder of the cluster type folders, from the repo's root. The default is `.`. Two renderings on one " +
						"branch need paths beside each other."),
			},
		},
		sourcesAttribute: schema.MapAttribute{
			ElementType: types.StringType,
			Optional:    true,
			MarkdownDescription: "The commits at which the objects of `manifests` were read: the output `sources` of a data " +
				"source, or several of them merged. The record on the branch, `description` and its links name them. A commit " +
				"that changes no object changes nothing: the plan keeps `sources` and `manifests` of the last change.",
		},
		"promoted_commit": optionalString(
			"The commit of the common objects that this environment renders. The apply writes it to " +
				"`.github/tracking/Promoted_Commit_Id`, at the repo's root."),
		"promotion": promotionArgument("A `kalypso_promotion` as a whole, instead of `promoted_commit`: its commit, and " +
			"the reason for it. The reason goes into the commit message, the pull request and the record on the branch. While " +
			"nothing is written, the plan keeps the value of the last change."),
		"delivery": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "How the tree is delivered to the branch.",
			Attributes:          deliveryAttributes(),
		},
		"adopt": optionalBool(
			"Adopt existing folders that are not this rendering's: those of the cluster types, and those with the Kalypso " +
				"operator's README. Otherwise they are an error. So is a rendering of this environment that the state does not " +
				"know, unless it has the same tree."),
		"on_drift": driftReactions.attribute(
			"The reaction of a plan to changes of others in this rendering's folders: `fail` with their paths, commits and " +
				"authors, or warn and let the apply `overwrite` them."),
		"guardrails": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Limits what a change may do.",
			Attributes: map[string]schema.Attribute{
				"max_removed": optionalString(
					"How many deployment target folders one change may remove: a number, or a percentage of this rendering's " +
						"folders on the branch. A folder whose files all become empty counts as removed. The " +
						"default is `" + string(delivery.DefaultLimit) + "`."),
				"max_kept": optionalString(
					"How many deployment target folders the branch may keep with `on_assignment_error = \"keep\"`: a number, or a " +
						"percentage of this rendering's folders on the branch. New deployment targets that are left out do not count. " +
						"The default is `" + string(delivery.DefaultMaxKept) + "`: a fault of more is rarely a team's."),
				"allow_empty": optionalBool(
					"Allow a change to remove all of them, if `max_removed` allows it too, and " +
						"allow the first delivery to contain none."),
				"require_known": optionalBool("Refuse a plan in which the assignments of a cluster type are not known yet."),
				"unscheduled":   reactions.attribute("The reaction to deployment targets that no policy places."),
				"unsatisfied": reactions.attribute(
					"The reaction to deployment targets that get fewer cluster types than `placement.number_of_cluster_types`. A " +
						"target that was placed before and fits no cluster type any more is an error, unless this is `ignore`."),
				"secrets": clearSecrets.attribute(
					"The reaction to new and changed config values that are plainly secrets, such as private keys, tokens, and " +
						"passwords in URLs. Git would contain them in plain text; see the guide Secrets."),
				"duplicate_objects": reactions.attribute(
					"The reaction to Kubernetes objects that several deployment targets of a cluster type render. Flux applies " +
						"nothing of a folder that contains an object twice. If one deployment target renders an object twice, it is an " +
						"error. In the folders that change, it also warns of documents that are no Kubernetes objects, and of objects " +
						"outside of their assignment's namespace. `ignore` turns all of this off."),
				"moved": reactions.attribute(
					"The reaction to deployment targets that leave a cluster type while they join another."),
			},
		},
		"limits":  limitsAttribute(),
		"rollout": rolloutAttribute(),
		"preview": previews.attribute(
			"How much of the tree the plan and the state show: the assignments; with `manifests` all rendered files too; " +
				"with `none` neither, for large fleets."),
		"create_branch": optionalBool("Create the branch if it does not exist. Otherwise, a missing branch is an error."),
		"commit_message": optionalString(
			"The message of the commit. The default lists the changes. Another message alone makes no commit."),
		"commit_trailers": schema.MapAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: trailersDescription + " They are added to those of the provider; a key that both have is " +
				"taken from here. Other trailers alone make no commit.",
		},
		"deletion_protection": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Refuse to destroy the rendering. To destroy it, apply `false` first. The default is " +
				"`true`. The strategy `none` needs no protection.",
		},
		"on_destroy": destructions.attribute(
			"Whether a destroy removes the folders and the record from the branch, in one commit, or keeps them."),
		"on_move": moves.attribute(
			"Whether another `gitops_repo` (repo, branch or path) removes the folders and the record at the old location, or " +
				"keeps them there. All removed folders count for the guardrails."),
		"on_assignment_error": assignmentErrors.attribute(
			"The reaction to deployment targets that fail to render by a fault of their team: a template that fails on their " +
				"data, values that their own schema rejects, text that is refused, files that text changes, or a Workload with " +
				"too many targets. `fail` the plan; or `keep` what the branch contains of them, leave out those that it does not " +
				"contain, and warn with all of them. Faults of platform objects always fail: see the guide When a " +
				"team breaks something."),
		"timeouts": timeouts.Attributes(ctx, timeouts.Opts{Create: true, Read: true, Update: true, Delete: true}),
	}
	maps.Copy(attributes, fleetArguments())
	maps.Copy(attributes, environmentRenderingComputed())
	return schema.Schema{
		MarkdownDescription: "Renders an environment: schedules the deployment targets of the workloads on the cluster " +
			"types, merges the platform configuration, renders the templates, and commits the tree to the environment's " +
			"branch of the GitOps repo.\n\nThe plan shows what the apply commits. **Everything in the tree is committed in " +
			"plain text**, even if it comes from sensitive values.",
		Attributes: typed(attributes),
	}
}

// deliveryAttributes returns the arguments that say how a commit reaches a branch.
func deliveryAttributes() map[string]schema.Attribute {
	merges := make([]string, len(hosting.MergeMethods))
	for i, m := range hosting.MergeMethods {
		merges[i] = string(m)
	}
	autoMerge := enumeration(merges).attribute("")
	autoMerge.MarkdownDescription = "Request from the host to merge the pull request once its checks have passed, by " +
		"`merge`, `squash` or `rebase`; GitLab has no `rebase`. If no check is required, the host merges it at once. By " +
		"default, people merge."
	return map[string]schema.Attribute{
		"strategy": strategies.attribute(
			"`push` commits to the branch. `pull_request` commits to a branch of its own and opens a pull request on the " +
				"repo's host: GitHub, Gitea, or GitLab, where it is a merge request. `none` only computes: it contacts no " +
				"server and writes nothing. The other attributes except `describe` are for `pull_request`."),
		"branch_prefix": optionalString(
			"The start of the name of the pull request's branch. The rest of the name depends on environment, branch and " +
				"path. The default is `" + defaultBranchPrefix + "`."),
		"labels": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Labels of the pull request. It also has the label `" + pullrequest.PromotedLabel +
				"`, if it changes the promoted commit. On GitLab, a label has no comma.",
		},
		"reviewers": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Requested reviewers: users, and on GitHub and Gitea teams of the organisation that owns " +
				"the repo, such as `acme/platform`.",
		},
		"draft":      optionalBool("Open the pull request as a draft."),
		"auto_merge": autoMerge,
		"wait_for_merge": optionalBool(
			"Let the apply wait until the pull request is merged. It fails if the pull request is closed or `timeouts` runs " +
				"out; the next apply continues to wait."),
		"describe": descriptions.attribute(
			"How much `description` shows of the configs and references to secrets that change: `keys`, or also the old and " +
				"new `values`, even sensitive ones. They are then in the plan, in the pull request and wherever the text is " +
				"posted. With `none` there is no `description`; a pull request has the `keys`."),
		"reopen": optionalBool(
			"Open a new pull request for a tree whose pull request people closed. Otherwise, the next different tree gets one."),
	}
}

// pullRequestAttributes returns the arguments of the pull request that a delivery opens.
func pullRequestAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"number":       schema.Int64Attribute{Computed: true, MarkdownDescription: "The number."},
		"url":          computedString("The URL of its page."),
		"state":        computedString("`open`, `merged`, or `closed` without being merged."),
		"branch":       computedString("The head branch."),
		"head_commit":  computedString("The commit at its head."),
		"merge_commit": computedString("The commit on the branch that merged it. Null until then."),
	}
}

func environmentRenderingComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"assignments": schema.MapAttribute{
			Computed: true, ElementType: mapOfStrings,
			MarkdownDescription: "Every cluster type with its deployment targets, each with the first 12 digits of its " +
				"folder's hash. Terraform's diff shows what is added, removed and changed, and where. One that " +
				"`on_assignment_error` keeps has the hash of the folder on the branch. Null with `preview = \"none\"`.",
		},
		"assignment_count": schema.Int64Attribute{Computed: true, MarkdownDescription: "The number of assignments."},
		"unscheduled": schema.ListAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "The deployment targets that no policy places.",
		},
		"folders": schema.MapNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Every cluster type with its folder, with any `preview`.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"path":        computedString("The path from the repo's root, for the configuration of clusters."),
				"tree_hash":   computedString("The hash of the folder's Git tree."),
				"assignments": schema.Int64Attribute{Computed: true, MarkdownDescription: "The number of its deployment targets."},
			}},
		},
		"files": schema.MapAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Every rendered file by its path from the repo's root, except the record. Null unless " +
				"`preview` is `manifests`.",
		},
		"description": computedString(
			"Describes the last change in Markdown, for reviewers: the hashes of the tree before and after, a graph of the " +
				"assignments that change, the deployment targets of each cluster type, the promoted commit, the commits that the " +
				"objects come from, the policies that place the changed targets, and the configs and references to secrets that " +
				"changed. Null unless `delivery.describe` is set. Known in the plan of an update. At most 16,384 characters."),
		"tree_hash": computedString(
			"The hash of a Git tree that contains only the cluster type folders. Equal hashes mean equal trees. " +
				"With `rollout`, this and `assignments`, `folders` and `files` are what the apply leaves on the branch."),
		"target_tree_hash": computedString(
			"With `rollout`: the hash of the fleet's tree, which the last wave reaches. Otherwise null."),
		"rollout_status": computedString("With `rollout`: the stage and the wave of the last commit. Null if there is none " +
			"yet."),
		"commit_sha": computedString(
			"The commit on the branch that contains the tree. Null until there is one, and with the strategy `none`."),
		"delivered": schema.BoolAttribute{
			Computed: true,
			MarkdownDescription: "Whether the branch contains the tree: after a push, or once the pull request is merged. " +
				"Null " +
				"with the strategy `none`.",
		},
		"pull_request": schema.SingleNestedAttribute{
			Computed: true, Attributes: pullRequestAttributes(),
			MarkdownDescription: "The pull request that proposes the tree, or proposed it. Null without the strategy " +
				"`pull_request`, and if the branch already contained the tree.",
		},
	}
}

// optionalString returns an optional string argument.
func optionalString(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

// optionalBool returns an argument whose default is false.
func optionalBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, MarkdownDescription: description + " The default is `false`."}
}

// computedString returns a computed string of a resource.
func computedString(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}
