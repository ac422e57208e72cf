package schemas

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// defaultBranchPrefix is the default of delivery.branch_prefix.
const defaultBranchPrefix = "deployment/"

// ReadPullRequestSettings reads the settings of pull requests from the argument delivery.
func ReadPullRequestSettings(delivery tfvalue.Decoder) (s pullrequest.Settings) {
	delivery.Read(&s)
	if !delivery.Unknown && tfvalue.IsNull(delivery.Arguments["branch_prefix"]) {
		s.BranchPrefix = defaultBranchPrefix
	}
	return s
}

// queued is the state of an open pull request that is in a merge queue.
const queued = "queued"

// PullRequestValue returns the attribute pull_request, see [tfvalue.Result]; nil if there is none.
func PullRequestValue(pr *githost.PullRequest) any {
	if pr == nil {
		return nil
	}
	all := tfvalue.ValuesOf(pr)
	all["state"] = string(pr.State)
	if pr.State == githost.Open && pr.Queue != nil {
		all["state"] = queued
	}
	return all
}

// Descriptions lists the levels of detail of a description of the changes.
var Descriptions = Enumeration{string(delivery.DetailNone), string(delivery.DetailKeys), string(delivery.DetailValues),
	string(delivery.DetailLines)}

// DeliveryAttributes returns the arguments that say how a commit reaches a branch.
func DeliveryAttributes() map[string]schema.Attribute {
	merges := lists.Map(githost.MergeMethods, func(m githost.MergeMethod) string { return string(m) })
	return map[string]schema.Attribute{
		"strategy": Strategies.Attribute(
			"`push` commits to the branch. `pull_request` opens a pull request, on GitLab a merge request. `none` only " +
				"computes: it contacts no server and writes nothing. The other attributes except `describe` are for " +
				"`pull_request`."),
		"branch_prefix": OptionalString(
			"The start of the name of the pull request's branch. The default is `" + defaultBranchPrefix + "`."),
		"labels": OptionalSet("Labels of the pull request. It also has the label `" + pullrequest.PromotedLabel +
			"`, if it changes the promoted commit. On GitLab, a label has no comma."),
		"reviewers": OptionalSet(
			"Requested reviewers: users, and on GitHub and Gitea teams of the organisation that owns " +
				"the repo, such as `acme/platform`. On Azure DevOps: users by mail, and teams as `project/team`.",
		),
		"draft": OptionalBool("Open the pull request as a draft. Without it, the next apply makes a draft ready. The " +
			"default is `false`."),
		"auto_merge": OptionalString("Ask the host to merge the pull request once its checks have passed, by `merge`, "+
			"`squash` or `rebase`; GitLab has no `rebase`. If no check is required, the host merges it at once, or on GitHub "+
			"puts it into the branch's merge queue, which has its own method. By default, people merge.",
			stringvalidator.OneOf(merges...)),
		"wait_for_merge": OptionalBool(
			"Make the apply wait until the pull request is merged. It fails if the pull request is closed or `timeouts` runs " +
				"out. The default is `false`.",
		),
		"describe": Descriptions.Attribute(
			"How much `description` shows of a change: the `keys` of configs and references to secrets, also their old and " +
				"new `values`, even sensitive ones, or the `lines` of the rendered files, each change once. The plan, the pull " +
				"request and every place where the text is posted then contain them. With `none` there is no `description`; a " +
				"pull request has the `keys`.",
		),
		"reopen": OptionalBool(
			"Open a new pull request for a tree whose pull request people closed. Otherwise, one is opened once the tree " +
				"changes. The default is `false`.",
		),
	}
}

// PullRequestAttributes returns the arguments of the pull request that a delivery opens.
func PullRequestAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"number": ComputedNumber("The number."),
		"url":    ComputedText("The URL of its page."),
		"state": ComputedText("`open`, `" + queued + "` in GitHub's merge queue, `merged`, or `closed` without being " +
			"merged."),
		"branch":       ComputedText("The head branch."),
		"head_commit":  ComputedText("The commit at its head."),
		"merge_commit": ComputedText("The commit on the branch that merged it. Null until then."),
	}
}
