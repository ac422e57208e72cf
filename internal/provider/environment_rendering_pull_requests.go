package provider

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// defaultBranchPrefix is what our branches begin with where nobody says.
const defaultBranchPrefix = "deployment/"

// deliveryResults are the computed attributes that an apply which writes nothing keeps.
var deliveryResults = []string{"changes", "description", "commit_sha", "delivered", "pull_request"}

// pullRequestSettings are how pull requests are to be. Where one is not known, the request is not settled.
type pullRequestSettings struct {
	branchPrefix, autoMerge string
	labels, reviewers       []string
	draft, wait, reopen     bool
}

func deliveryAttributes() map[string]schema.Attribute {
	merges := make([]string, len(hosting.MergeMethods))
	for i, m := range hosting.MergeMethods {
		merges[i] = string(m)
	}
	autoMerge := enumeration(merges).attribute("")
	autoMerge.MarkdownDescription = "Ask GitHub to merge the pull request once its checks have passed, by `merge`, `squash` or `rebase`; where nothing is awaited, it is merged at once. The default is that people merge."
	return map[string]schema.Attribute{
		"strategy": strategies.attribute("`push` commits to the branch, `pull_request` commits to a branch of its own and opens a pull request on GitHub, `none` computes alone, and contacts and writes nothing. The other attributes but `describe_values` are for `pull_request`."),
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
		"describe_values": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Show the values of configs that change, old and new, in `description`, and so in the plan, in the pull request and wherever it is posted; " +
				"also those that come from sensitive values. Otherwise it names the keys alone. The default is `false`.",
		},
		"reopen": schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether a tree whose pull request people closed gets a new one. Otherwise the next different tree does. The default is `false`."},
	}
}

// reviewer is a user, or a team of an organisation.
var reviewer = regexp.MustCompile(`^[A-Za-z0-9_.-]+(\[bot\])?(/[A-Za-z0-9_.-]+)?$`)

// maxLabel is how many characters GitHub lets a label have.
const maxLabel = 50

func (r *renderingRequest) readPullRequests(d decoder) {
	v := pullRequestSettings{branchPrefix: defaultBranchPrefix, autoMerge: d.string("auto_merge"), labels: d.strings("labels"), reviewers: d.strings("reviewers")}
	if given, known := d.argument("branch_prefix"); known || d.isUnknown("branch_prefix") {
		v.branchPrefix = d.string("branch_prefix")
		if err := delivery.CheckBranchPrefix(v.branchPrefix); given != nil && !fleet.IsUnknown(v.branchPrefix) && err != nil {
			d.report("Invalid branch prefix", fleet.Sentence(err), fleet.Attr("branch_prefix"))
		}
	}
	v.draft, v.wait = r.flag(d, "draft"), r.flag(d, "wait_for_merge")
	v.reopen = r.flag(d, "reopen")
	for _, label := range v.labels {
		if !fleet.IsUnknown(label) && (label == "" || len([]rune(label)) > maxLabel) {
			d.report("Invalid label", fmt.Sprintf("%q is no label: one has from 1 to %d characters.", label, maxLabel), fleet.Attr("labels"))
		}
	}
	for _, name := range v.reviewers {
		if !fleet.IsUnknown(name) && !reviewer.MatchString(name) {
			d.report("Invalid reviewer", fmt.Sprintf("%q is neither a user, such as \"octocat\", nor a team, such as \"acme/platform\".", name), fleet.Attr("reviewers"))
		}
	}
	if v.draft && v.autoMerge != "" && !fleet.IsUnknown(v.autoMerge) {
		d.report("Draft and auto-merge", "GitHub merges no draft: set draft or auto_merge, not both.", fleet.Attr("auto_merge"))
	}
	r.settled = r.settled && !anyUnknown(v.branchPrefix, v.autoMerge) && !anyUnknown(v.labels...) && !anyUnknown(v.reviewers...)
	r.pulls = v
}

// pullRequests is how the domain is asked to have a change reviewed, or nil where an error was reported.
func (r *environmentRendering) pullRequests(o *renderingRequest, diags *diag.Diagnostics) *delivery.PullRequests {
	host := r.data.hostFor(diags)
	if host == nil {
		return nil
	}
	return &delivery.PullRequests{
		Host: host, BranchPrefix: o.pulls.branchPrefix, Labels: o.pulls.labels, Reviewers: o.pulls.reviewers, Draft: o.pulls.draft,
		AutoMerge: hosting.MergeMethod(o.pulls.autoMerge), Wait: o.pulls.wait, Reopen: o.pulls.reopen, Overwrite: o.onDrift == driftOverwrite,
	}
}

// checkReview reports a repo that is not on the host, or that the host does not show.
func (r *environmentRendering) checkReview(ctx context.Context, o *renderingOutcome, diags *diag.Diagnostics) {
	pulls := r.pullRequests(o.renderingRequest, diags)
	if pulls == nil {
		return
	}
	if err := pulls.Check(ctx, o.order(r.data.author, nil)); err != nil {
		appendDeliveryError(diags, o.place, err)
	}
}

// checkReviewers reports whom the host can't ask for a review.
func (r *environmentRendering) checkReviewers(o *renderingOutcome, diags *diag.Diagnostics) {
	if o.strategy != strategyPullRequest || !o.settled || len(o.pulls.reviewers) == 0 || r.data == nil || !r.data.known {
		return
	}
	pulls := r.pullRequests(o.renderingRequest, diags)
	if pulls == nil {
		return
	}
	if err := pulls.CheckReviewers(o.order(commitAuthor{}, nil)); err != nil && !errors.Is(err, hosting.ErrOtherHost) {
		diags.AddAttributeError(path.Root("delivery"), "Reviewers that can't be asked", fleet.Sentence(err))
	}
}

// bring delivers the tree by its strategy.
func (r *environmentRendering) bring(ctx context.Context, o *renderingOutcome, before *delivery.State, diags *diag.Diagnostics) (*delivery.Receipt, error) {
	order := o.order(r.data.author, before)
	proposed := order.Before != nil && order.Before.Proposal != nil
	if o.strategy == strategyPush && !proposed {
		return delivery.Deliver(ctx, r.data.Client, order, logProgress(ctx, logEvery))
	}
	pulls := r.pullRequests(o.renderingRequest, diags)
	switch {
	case pulls == nil:
		return nil, nil //nolint:nilnil // the error is in diags
	case o.strategy == strategyPullRequest:
		return delivery.Propose(ctx, r.data.Client, order, pulls, logProgress(ctx, logEvery))
	}
	receipt, err := delivery.Deliver(ctx, r.data.Client, order, logProgress(ctx, logEvery))
	if err != nil {
		return receipt, err
	}
	return receipt, delivery.Retire(ctx, r.data.Client, pulls.Host, order.Before.Proposal)
}

// follow reads what became of what was delivered, or proposed.
func (r *environmentRendering) follow(ctx context.Context, before *delivery.State, diags *diag.Diagnostics) (*delivery.State, *hosting.PullRequest, error) {
	var host hosting.Host
	if before.Proposal != nil || before.Removal != 0 {
		if host = r.data.hostFor(diags); host == nil {
			return nil, nil, nil
		}
	}
	return delivery.Follow(ctx, r.data.Client, host, before)
}

// withdraw has the removal of the rendering reviewed.
func (r *environmentRendering) withdraw(ctx context.Context, request *renderingRequest, before *delivery.State, message string, author gitops.Signature, private privateState, diags *diag.Diagnostics) {
	pulls := r.pullRequests(request, diags)
	if pulls == nil {
		return
	}
	pr, err := pulls.Withdraw(ctx, r.data.Client, before, message, author)
	var review *delivery.ReviewError
	if errors.As(err, &review) {
		waited := *before
		waited.Removal = review.PullRequest.Number
		writeDelivery(ctx, private, &waited, diags)
	}
	switch {
	case err != nil:
		appendDeliveryError(diags, before.Place, err)
	case pr != nil:
		appendRemoval(diags, before.Place, pr)
	}
}

// appendRemoval says that what was delivered goes with a pull request.
func appendRemoval(diags *diag.Diagnostics, place delivery.Place, pr *hosting.PullRequest) {
	if pr.State == hosting.Merged {
		return
	}
	diags.AddAttributeWarning(path.Root("delivery"), "A pull request removes the rendering",
		fmt.Sprintf("What was delivered stays at %s until pull request %d is merged: %s", place, pr.Number, pr.URL))
}

// appendAbandoned says that people closed the pull request.
func appendAbandoned(diags *diag.Diagnostics, o *renderingOutcome, before *delivery.State) {
	if n := before.Abandoned(); n != 0 && o.strategy == strategyPullRequest {
		diags.AddAttributeWarning(path.Root("delivery"), "The pull request was closed",
			fmt.Sprintf("Pull request %d to %s was closed without being merged, or made one to another branch: the branch does not hold the tree. "+
				"The next different tree opens a new one; delivery.reopen = true opens one for this tree.", n, before.Place))
	}
}

// proposes reports whether an apply has something to propose, or to put right, though the tree is the one before.
func (o *renderingOutcome) proposes(state map[string]attr.Value, before *delivery.State) bool {
	commit, _ := state["commit_sha"].(types.String)
	switch p := before.Proposal; {
	case p == nil:
		return commit.IsNull() || before.Drifted()
	case !p.Open():
		return o.pulls.reopen
	default:
		return p.Broken() || before.Drifted() || o.dressed(state)
	}
}

// dressed reports whether what an open pull request is to be like changed.
func (o *renderingOutcome) dressed(state map[string]attr.Value) bool {
	var ps fleet.Problems
	old := renderingRequest{}
	if given, ok := (decoder{arguments: state, problems: &ps}).object("delivery"); ok {
		old.readPullRequests(given)
	}
	a, b := old.pulls, o.pulls
	return a.branchPrefix != b.branchPrefix || a.autoMerge != b.autoMerge || a.draft != b.draft || a.wait != b.wait ||
		!slices.Equal(a.labels, b.labels) || !slices.Equal(a.reviewers, b.reviewers)
}

// planDelivery plans what an apply that writes finds out.
func (o *renderingOutcome) planDelivery(values map[string]attr.Value) {
	values["commit_sha"], values["delivered"], values["pull_request"] = types.StringUnknown(), types.BoolUnknown(), types.ObjectUnknown(pullRequestTypes)
	switch o.strategy {
	case strategyNone:
		setDelivery(values, "", false, nil)
		values["delivered"] = types.BoolNull()
	case strategyPush:
		values["delivered"], values["pull_request"] = types.BoolValue(true), types.ObjectNull(pullRequestTypes)
	}
}

// setDelivery sets what is known of a delivery; commit is empty where the branch does not hold the tree.
func setDelivery(values map[string]attr.Value, commit string, delivered bool, pr *hosting.PullRequest) {
	values["commit_sha"] = nullable(commit)
	values["delivered"] = types.BoolValue(delivered)
	values["pull_request"] = types.ObjectNull(pullRequestTypes)
	if pr != nil {
		values["pull_request"] = types.ObjectValueMust(pullRequestTypes, map[string]attr.Value{
			"number": types.Int64Value(int64(pr.Number)), "url": types.StringValue(pr.URL), "state": types.StringValue(string(pr.State)),
			"branch": types.StringValue(pr.Branch), "head_commit": types.StringValue(pr.HeadCommit), "merge_commit": nullable(pr.MergeCommit),
		})
	}
}

// setFound sets what a refresh found of a delivery, and reports whether that is news.
func setFound(values map[string]attr.Value, now *delivery.State, pr *hosting.PullRequest) bool {
	old := map[string]attr.Value{}
	for _, name := range deliveryResults {
		old[name] = values[name]
	}
	commit, _ := values["commit_sha"].(types.String)
	hash, _ := values["tree_hash"].(types.String)
	holds := now.Proposal == nil && now.Delivered.TreeHash().String() == hash.ValueString()
	if holds && commit.IsNull() {
		commit = nullable(now.Base)
		if pr != nil && pr.State == hosting.Merged {
			commit = nullable(pr.MergeCommit)
		}
	}
	shown := values["pull_request"]
	setDelivery(values, commit.ValueString(), holds && !now.Drifted(), pr)
	if pr == nil {
		values["pull_request"] = shown
	}
	for _, name := range deliveryResults {
		if !values[name].Equal(old[name]) {
			return true
		}
	}
	return false
}
