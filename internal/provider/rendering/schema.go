package rendering

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

var (
	previews         = schemas.Enumeration{previewAssignments, previewNone, previewSummary, previewManifests}
	reactions        = schemas.Enumeration(problem.Reactions)
	strictReactions  = schemas.Enumeration{string(problem.Fail), string(problem.Warn), string(problem.Ignore)}
	invalidObjects   = schemas.Enumeration{string(problem.Fail), string(problem.Warn)}
	removals         = schemas.Enumeration{"remove", keep}
	assignmentErrors = schemas.Enumeration{"fail", keep}
)

const (
	previewAssignments = "assignments"
	previewNone        = "none"
	previewSummary     = "summary"
	previewManifests   = "manifests"

	// keep is a reaction that keeps folders on the branch.
	keep = "keep"
)

func environmentRenderingSchema() schema.Schema {
	attributes := map[string]schema.Attribute{
		"gitops_repo": schemas.OptionalObject(
			"The destination of the tree. Required unless `delivery.strategy` is `none`. A new "+
				"destination is an update: the apply writes the tree to the new location, then removes it from the old one, as "+
				"`on_move` and the guardrails allow.",
			map[string]schema.Attribute{
				"repo": schemas.OptionalString(
					"The URL of the repo: `https://`, `ssh://` (or `git@host:path`) or `file://`. Credentials belong to the " +
						"provider's `git_credentials`. Required."),
				"branch": schemas.OptionalString("The branch, usually the environment's name. Required."),
				"path": schemas.OptionalString(
					"The folder of the cluster type folders, from the repo's root. The default is `.`. Of two renderings on one " +
						"branch, neither path may contain the other."),
			},
		),
		schemas.SourcesAttribute: schemas.OptionalStrings(
			"The commits at which the objects of `manifests` were read: the output `sources` of a data " +
				"source, or several of them merged. The record on the branch and `description` show them. A commit that changes " +
				"no object changes nothing, except a status of `feedback`: the plan keeps `sources` and `manifests` of the last " +
				"change.",
		),
		schemas.VerifiedAttribute: schemas.OptionalStrings(
			"The signers of the commits in `sources` and of the promoted commit: the output `verified` " +
				"of a data source, or several of them merged. The record on the branch names them.",
		),
		"promoted_commit": schemas.OptionalString(
			"The commit of the common objects that this environment renders. The apply writes it to " +
				"`.github/tracking/Promoted_Commit_Id`, at the repo's root."),
		"promotion": schemas.PromotionArgument(
			"A `kalypso_promotion` as a whole, instead of `promoted_commit`: its commit, and " +
				"the reason for it. While nothing is written, the plan keeps the value of the last change.",
		),
		"delivery": schemas.OptionalObject("How the tree is delivered to the branch.", deliveryAttributes()),
		"adopt": schemas.OptionalBool(
			"Adopt existing folders that this rendering does not own: folders of the cluster types, and folders with the " +
				"Kalypso operator's README. Otherwise they are an error. So is a rendering of this environment that the state " +
				"does not contain, unless it has the same tree. The default is `false`."),
		"on_drift": schemas.DriftReactions.Attribute(
			"The reaction of a plan to changes outside Terraform in this rendering's folders: `fail` with their paths, " +
				"commits and authors, or warn and let the apply `overwrite` them."),
		"guardrails": schemas.OptionalObject("Limits what a change may do.", map[string]schema.Attribute{
			"max_removed": schemas.OptionalString(
				"How many deployment target folders one change may remove: a number, or a percentage of this rendering's " +
					"folders on the branch. A folder whose files all become empty counts as removed. The " +
					"default is `" + delivery.DefaultMaxRemoved + "`."),
			"max_kept": schemas.OptionalString(
				"How many deployment target folders the branch may keep with `on_assignment_error = \"keep\"`: a number, or a " +
					"percentage of this rendering's folders on the branch. New deployment targets that are left out do not count. " +
					"The default is `" + delivery.DefaultMaxKept + "`.",
			),
			"allow_empty": schemas.OptionalBool(
				"Allow a change that removes all deployment target folders, if `max_removed` allows it too, and a first " +
					"delivery without deployment targets to a branch that contains folders. The default is `false`."),
			"require_known": schemas.OptionalBool(
				"Fail a plan in which the assignments of a cluster type are not known yet. The default is `false`.",
			),
			"unscheduled": reactions.Attribute("The reaction to deployment targets that no policy places."),
			"unsatisfied": reactions.Attribute(
				"The reaction to deployment targets that get fewer cluster types than `placement.number_of_cluster_types`. A " +
					"target that was placed before and fits no cluster type any more is an error, unless this is `ignore`.",
			),
			"requires": reactions.Attribute(
				"The reaction to a deployment target on a cluster type that lacks the targets that it requires. With `error`, " +
					"it is a fault of the target's team. Targets that require each other are an error, unless this is `ignore`.",
			),
			"secrets": strictReactions.Attribute(
				"The reaction to new and changed config values that are plainly secrets, such as private keys, tokens, and " +
					"passwords in URLs. They would be in Git in plain text; see the guide Secrets."),
			"duplicate_objects": reactions.Attribute(
				"The reaction to Kubernetes objects that several deployment targets of a cluster type render. Flux applies " +
					"nothing of a folder that contains an object twice. Objects outside of their assignment's namespace are a " +
					"warning. `ignore` turns off both."),
			"invalid_objects": invalidObjects.Attribute(
				"The reaction to new and changed files that kustomize refuses, or whose objects lack `apiVersion` or have wrong " +
					"metadata, such as a number as name. Flux drops such objects, or applies nothing of the folder."),
			"moved": reactions.Attribute(
				"The reaction to deployment targets that leave a cluster type while they join another."),
			"emptied": strictReactions.Attribute(
				"The reaction to cluster types that lose all their deployment targets, while other cluster types keep some."),
			"orphaned": strictReactions.Attribute(
				"The reaction to deployment targets that their teams still have and that leave their last cluster types, for " +
					"example by a mistake in a policy's label."),
		}),
		"accepted_changes": schemas.OptionalTexts(
			"The IDs of changes that the apply may make although `guardrails`, `on_drift`, `adopt` or " +
				"`on_move` refuse them. The error that refuses a change shows its ID, which allows that change alone.",
		),
		"limits":  limitsAttribute(),
		"rollout": rolloutAttribute(),
		"preview": previews.Attribute(
			"How much of the tree the plan and the state show: the assignments; with `manifests` all rendered files too; " +
				"with `summary` one line for each cluster type; with `none` the totals alone."),
		"create_branch": schemas.OptionalBool(
			"Create the branch if it does not exist. The default is `false`.",
		),
		"commit_message": schemas.OptionalString(
			"The message of the commit. The default lists the changes. A new message alone makes no commit."),
		"commit_trailers": schemas.OptionalStrings(
			configuration.TrailersDescription + " They override the provider's trailers with the same key. New trailers " +
				"alone make no commit.",
		),
		"deletion_protection": schemas.OptionalBool("Refuse to destroy the rendering. To destroy it, apply `false` first. " +
			"The default is `true`."),
		"on_destroy": removals.Attribute(
			"Whether a destroy removes the folders and the record from the branch, in one commit, or keeps them."),
		"on_move": removals.Attribute(
			"Whether a move to another repo, branch or path removes the folders and the record at the old location, or keeps " +
				"them there. All removed folders count for the guardrails.",
		),
		"on_assignment_error": assignmentErrors.Attribute(
			"The reaction to deployment targets that fail to render by a fault of their team, such as a template that fails " +
				"on their data. `fail` the plan; or `keep` their folders as they are on the branch, leave out new targets, and " +
				"warn. Faults of platform objects always fail: see the guide Several teams.",
		),
		"feedback": feedbackArgument(),
	}
	for name, a := range attributes { // if an object needs an attribute, it is an error to set none
		if object, is := a.(schema.SingleNestedAttribute); is && !schemas.Needs(object.Attributes) {
			object.Validators = append(object.Validators, schemas.SetsSomething())
			attributes[name] = object
		}
	}
	maps.Copy(attributes, model.FleetArguments())
	maps.Copy(attributes, environmentRenderingComputed())
	return schema.Schema{
		MarkdownDescription: "Renders an environment: schedules the deployment targets of the workloads on the cluster " +
			"types, merges the platform configuration, renders the templates, and commits the tree to the environment's " +
			"branch of the GitOps repo.\n\nThe plan shows what the apply commits. **Everything in the tree is committed in " +
			"plain text**, even if it comes from sensitive values.",
		Attributes: attributes,
	}
}

func environmentRenderingComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"assignments": schemas.ComputedMap("Every cluster type with its deployment targets, each with the first 12 digits "+
			"of its folder's hash. Null if `preview` is `summary` or `none`.", mapOfStrings),
		"summary": schemas.ComputedStrings(
			"A line for each cluster type with the last change of its folder, such as `+1 -0 ~3, 16 " +
				"targets, tree 8042707eec4d`: one deployment target added, none removed, three changed. It stays until the " +
				"folder changes again. Null unless `preview` is `summary`.",
		),
		"assignment_count": schemas.ComputedNumber("The number of assignments."),
		"unscheduled":      schemas.ComputedTexts("The deployment targets that no policy places."),
		"folders": schemas.ComputedObjectMap(
			"Every cluster type with its folder. Null if `preview` is `summary` or `none`.",
			map[string]schema.Attribute{
				"path":        schemas.ComputedText("The path from the repo's root, for the configuration of clusters."),
				"tree_hash":   schemas.ComputedText("The hash of the folder's Git tree."),
				"assignments": schemas.ComputedNumber("The number of its deployment targets."),
			},
		),
		"files": schemas.ComputedStrings(
			"Every rendered file by its path from the repo's root, except the record. Null unless " +
				"`preview` is `manifests`.",
		),
		"description": schemas.ComputedText(
			"The last change in Markdown, for reviewers: what changes, where, and why. Null unless `delivery.describe` is " +
				"set. At most 16,384 characters."),
		"tree_hash": schemas.ComputedText(
			"The hash of a Git tree that contains only the cluster type folders. With `rollout`, this, `assignments`, " +
				"`folders` and `files` show the branch as the apply leaves it."),
		"target_tree_hash": schemas.ComputedText(
			"With `rollout`: the hash of the fleet's tree, which the last wave reaches. Otherwise null."),
		"rollout_status": schemas.ComputedText(
			"With `rollout`: the stage and the wave of the last commit, such as `stage canary, wave 1`. Null if there is none " +
				"yet.",
		),
		"feedback_status": schemas.ComputedText(
			"What the last `feedback` told teams, such as `feedback: 3 statuses, 1 issue opened, 1 closed`. It ends with " +
				"`again` if the same feedback is given once more. Null if there was none."),
		"commit_sha": schemas.ComputedText(
			"The commit on the branch that contains the tree. Null until there is one, and with the strategy `none`."),
		"delivered": schemas.ComputedBool(
			"Whether the branch contains the tree: after a push, or once the pull request is merged. " +
				"Null " +
				"with the strategy `none`.",
		),
		"pull_request": schemas.ComputedObject("The pull request that proposes, or proposed, the tree. Null without the "+
			"strategy `pull_request`, and if the branch already contained the tree.", schemas.PullRequestAttributes()),
	}
}
