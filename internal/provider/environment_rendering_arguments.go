package provider

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// defaultBranchPrefix is what our branches begin with where nobody says.
const defaultBranchPrefix = "deployment/"

// rendering is what the arguments ask for, with the defaults applied, and what the fleet renders to.
type rendering struct {
	*delivery.Desired
	fleet                            *fleet.Fleet
	onDrift, preview, unscheduled    string
	unsatisfied, moved, clearSecrets fleet.Reaction
	requireKnown                     bool
	assignmentsKnown                 bool // those of all cluster types
	// reviewable says that it is known how people are told of the change, and sourcesKnown that the commits are known.
	reviewable, sourcesKnown bool
}

// decoder reads the arguments that say where and how the tree is delivered.
func (m *environmentRenderingModel) decoder(ps *fleet.Problems) decoder {
	return decoder{problems: ps, arguments: map[string]attr.Value{
		"environment": m.Environment, "gitops_repo": m.GitOpsRepo, "delivery": m.Delivery,
	}}
}

// desired reads where and how the tree is delivered, from a state: what is wrong with the arguments was reported before.
func (m *environmentRenderingModel) desired() *delivery.Desired {
	r := &rendering{Desired: &delivery.Desired{}}
	r.readDelivery(m.decoder(&fleet.Problems{}))
	return r.Desired
}

// rendering reads all arguments. What is wrong with them by themselves is reported; the fleet is not validated.
func (m *environmentRenderingModel) rendering(ctx context.Context, data *providerData) (*rendering, fleet.Problems) {
	var ps fleet.Problems
	d := m.decoder(&ps)
	maps.Copy(d.arguments, map[string]attr.Value{
		"cluster_types": m.ClusterTypes, "templates": m.Templates, "configs": m.Configs, "config_schemas": m.ConfigSchemas,
		"secrets":             m.Secrets,
		"scheduling_policies": m.SchedulingPolicies, "workloads": m.Workloads, yamlAttribute: m.Manifests,
		"promoted_commit": m.PromotedCommit, "promotion": m.Promotion, "commit_message": m.CommitMessage, sourcesAttribute: m.Sources, "on_drift": m.OnDrift, "preview": m.Preview,
		"adopt": m.Adopt, "create_branch": m.CreateBranch, "guardrails": m.Guardrails, "limits": m.Limits,
		"on_move": m.OnMove, "rollout": m.Rollout,
	})
	r := &rendering{Desired: &delivery.Desired{}}
	r.readDelivery(d)
	r.fleet, r.Origins = readFleet(ctx, d, readLimits(d))
	r.readSources(d)
	r.Configs, r.Registrations = r.fleet.Configs, r.fleet.Registrations
	r.onDrift, r.preview = driftReactions.or(d.string("on_drift")), previews.or(d.string("preview"))
	r.Adopt, r.CreateBranch = r.flag(d, "adopt"), r.flag(d, "create_branch")
	onMove := moves.or(d.string("on_move"))
	r.KeepOld = onMove == moveKeep
	r.incomplete(onMove)
	r.readGuardrails(d)
	r.readRollout(d)
	r.readPromotedCommit(d)
	r.Message = d.string("commit_message")
	if r.Message != "" && gitops.CheckMessage(r.Message) != nil {
		d.report("Invalid commit message", "commit_message is blank. Write a message, or remove the argument: the default message says what changes.",
			fleet.Attr("commit_message"))
	}
	if data != nil {
		r.Author = data.author.sign()
	}
	r.readReview(data)
	return r, ps
}

// readPromotedCommit reads the promoted commit, from the argument of this name or from promotion.
func (r *rendering) readPromotedCommit(d decoder) {
	r.PromotedCommit = d.string("promoted_commit")
	if r.PromotedCommit != "" && !fleet.IsUnknown(r.PromotedCommit) && !oneLine.MatchString(r.PromotedCommit) {
		d.report("Invalid promoted commit", "promoted_commit is one line without blanks, usually a commit's hash.", fleet.Attr("promoted_commit"))
	}
	p := readPromotion(d)
	if p == nil {
		return
	}
	if r.PromotedCommit != "" {
		d.report("Two promoted commits", "promoted_commit and promotion both say what is promoted. Remove one of them.", fleet.Attr("promoted_commit"))
	}
	r.PromotedCommit = p.Commit
	if p.Decision != "" || p.Summary != "" || p.RolledBack != "" {
		r.Promotion = &delivery.Promotion{Decision: p.Decision, Summary: p.Summary, RolledBack: p.RolledBack}
	}
}

var oneLine = regexp.MustCompile(`^\S+$`)

// flag reads a bool that decides whether the change may be made.
func (r *rendering) flag(d decoder, name string) bool {
	value, known := d.bool(name)
	r.Incomplete = r.Incomplete || !known
	return value
}

// readSources reads the commits at which the objects of manifests were read. Those of nothing in manifests are left out.
func (r *rendering) readSources(d decoder) {
	given := origin.Sources(d.stringMap(sourcesAttribute))
	r.sourcesKnown = !fleet.AnyUnknown(given)
	if !r.sourcesKnown {
		return
	}
	for _, place := range slices.Sorted(maps.Keys(given)) {
		at := []fleet.Step{fleet.Attr(sourcesAttribute), fleet.Key(place)}
		switch {
		case !origin.IsPlace(place):
			d.report("Invalid source", fmt.Sprintf("%q is no place in Git, which is written <repo>@<branch>:<path>. "+
				"Usually this is the output sources of a data source.", place), at...)
		case !oneLine.MatchString(given[place]):
			d.report("Invalid commit", fmt.Sprintf("%q is no commit. Write its full hash.", given[place]), at...)
		}
	}
	r.Sources = given.Of(r.Origins)
}

// incomplete notes texts without which it can't be decided whether the change may be made.
func (r *rendering) incomplete(texts ...string) {
	r.Incomplete = r.Incomplete || anyUnknown(texts...)
}

func (r *rendering) readDelivery(d decoder) {
	r.Environment = d.string("environment")
	given, _ := d.object("delivery")
	r.Strategy = delivery.Strategy(strategies.or(given.string("strategy")))
	r.Review.Detail = delivery.Detail(descriptions.or(given.string("describe")))
	r.reviewable = !fleet.IsUnknown(string(r.Review.Detail))
	r.readPullRequests(given)
	r.readDestination(d)
	r.incomplete(string(r.Strategy), r.Destination.Repo, r.Destination.Branch, r.Destination.Path)
}

func (r *rendering) readGuardrails(d decoder) {
	given, _ := d.object("guardrails")
	r.Guardrails = delivery.Guardrails{MaxRemoved: delivery.DefaultLimit}
	r.Guardrails.AllowEmpty, r.requireKnown = r.flag(given, "allow_empty"), r.flag(given, "require_known")
	r.unscheduled = unscheduled.or(given.string("unscheduled"))
	r.unsatisfied = fleet.Reaction(reactions.or(given.string("unsatisfied")))
	r.moved = fleet.Reaction(reactions.or(given.string("moved")))
	r.clearSecrets = fleet.Reaction(clearSecrets.or(given.string("secrets")))
	r.incomplete(string(r.unsatisfied), string(r.moved), string(r.clearSecrets))
	text := given.string("max_removed")
	r.incomplete(text)
	if text == "" || fleet.IsUnknown(text) {
		return
	}
	limit, err := delivery.ParseLimit(text)
	if err != nil {
		given.report("Invalid limit", fleet.Sentence(err), fleet.Attr("max_removed"))
	}
	r.Guardrails.MaxRemoved = limit
}

func (r *rendering) readDestination(d decoder) {
	given, ok := d.object("gitops_repo")
	at := delivery.Destination{Repo: given.string("repo"), Branch: given.string("branch")}
	if text := given.string("path"); fleet.IsUnknown(text) {
		at.Path = text
	} else if clean, err := delivery.CleanPath(text); err != nil {
		given.report("Invalid path", fleet.Sentence(err), fleet.Attr("path"))
	} else {
		at.Path = clean
	}
	r.Destination = at
	strategy := string(r.Strategy)
	if !ok {
		if r.Delivers() {
			given.report("Missing GitOps repo", "The strategy "+strategy+" needs gitops_repo, with repo and branch: where the tree goes.")
		}
		return
	}
	switch {
	case at.Repo == "" && r.Delivers():
		given.report("Missing repo", "The strategy "+strategy+" needs the URL of the GitOps repo.", fleet.Attr("repo"))
	case at.Repo != "" && !fleet.IsUnknown(at.Repo):
		if _, err := gitremote.ParseURL(at.Repo); err != nil {
			given.report("Invalid repo URL", fleet.Sentence(err), fleet.Attr("repo"))
		}
	}
	switch {
	case at.Branch == "" && r.Delivers():
		given.report("Missing branch", "The strategy "+strategy+" needs the branch of the GitOps repo.", fleet.Attr("branch"))
	case at.Branch != "" && !fleet.IsUnknown(at.Branch):
		if err := gitops.CheckName(at.Branch); err != nil {
			given.report("Invalid branch name", fleet.Sentence(err), fleet.Attr("branch"))
		}
	}
}

// reviewer is a user, or a team of an organisation.
var reviewer = regexp.MustCompile(`^[A-Za-z0-9_.-]+(\[bot\])?(/[A-Za-z0-9_.-]+)?$`)

// maxLabel is how many characters GitHub lets a label have.
const maxLabel = 50

func (r *rendering) readPullRequests(given decoder) {
	s := delivery.PullRequestSettings{
		BranchPrefix: defaultBranchPrefix, AutoMerge: hosting.MergeMethod(given.string("auto_merge")),
		Labels: given.strings("labels"), Reviewers: given.strings("reviewers"),
		Draft: r.flag(given, "draft"), Wait: r.flag(given, "wait_for_merge"), Reopen: r.flag(given, "reopen"),
	}
	if _, set := given.argument("branch_prefix"); set || given.isUnknown("branch_prefix") {
		s.BranchPrefix = given.string("branch_prefix")
		if err := delivery.CheckBranchPrefix(s.BranchPrefix); !fleet.IsUnknown(s.BranchPrefix) && err != nil {
			given.report("Invalid branch prefix", fleet.Sentence(err), fleet.Attr("branch_prefix"))
		}
	}
	for _, label := range s.Labels {
		if !fleet.IsUnknown(label) && (label == "" || len([]rune(label)) > maxLabel) {
			given.report("Invalid label", fmt.Sprintf("%q is no label: one has from 1 to %d characters.", label, maxLabel), fleet.Attr("labels"))
		}
	}
	for _, name := range s.Reviewers {
		if !fleet.IsUnknown(name) && !reviewer.MatchString(name) {
			given.report("Invalid reviewer", fmt.Sprintf("%q is neither a user, such as \"octocat\", nor a team, such as \"acme/platform\".", name), fleet.Attr("reviewers"))
		}
	}
	if s.Draft && s.AutoMerge != "" && !fleet.IsUnknown(string(s.AutoMerge)) {
		given.report("Draft and auto-merge", "GitHub merges no draft: set draft or auto_merge, not both.", fleet.Attr("auto_merge"))
	}
	r.incomplete(slices.Concat([]string{s.BranchPrefix, string(s.AutoMerge)}, s.Labels, s.Reviewers)...)
	r.PullRequest = s
}

// readReview finds how people are told of a change: with the pages of the host that the provider is configured for, which
// is not contacted.
func (r *rendering) readReview(data *providerData) {
	if data == nil || fleet.IsUnknown(data.github.BaseURL) {
		r.reviewable = false
		return
	}
	host, err := newHost(githubSettings{BaseURL: data.github.BaseURL}, nil)
	if err != nil {
		return // without pages
	}
	r.Review.Links = describe.Links{
		Commit: func(repo, commit string) string {
			if at, err := host.Repo(repo); err == nil {
				return at.CommitURL(commit)
			}
			return ""
		},
		Compare: func(repo, from, to string) string {
			if at, err := host.Repo(repo); err == nil {
				return at.CompareURL(from, to)
			}
			return ""
		},
	}
	if at, err := host.Repo(r.Destination.Repo); err == nil {
		r.Review.Max = at.MaxBody()
	}
}

// describable reports whether all is known that a description tells of.
func (r *rendering) describable() bool {
	return r.reviewable && r.sourcesKnown && r.Known() && (r.Located() || r.Strategy == delivery.ComputeOnly) &&
		!anyUnknown(string(r.Strategy), r.Environment, r.PromotedCommit) &&
		!slices.ContainsFunc(r.fleet.Configs, func(c *fleet.Config) bool {
			return fleet.IsUnknown(c.Name) || fleet.AnyUnknown(c.Labels) || fleet.AnyUnknown(c.Data)
		}) &&
		!slices.ContainsFunc(r.fleet.Secrets, func(s *fleet.Secret) bool { return fleet.HasUnknown(s) }) &&
		!slices.ContainsFunc(r.fleet.Policies, func(p *fleet.SchedulingPolicy) bool { return fleet.IsUnknown(p.Name) })
}

// run takes the fleet through the engine. Where the assignments are known and there is no error, there is a tree.
func (r *rendering) run(ctx context.Context) fleet.Problems {
	progress := logProgress(ctx, logEvery)
	made, ps := engine.Run(ctx, r.fleet, func(done, total int) { progress("render", done, total) })
	r.Tree, r.assignmentsKnown = made.Tree, made.AssignmentsKnown && made.Tree != nil
	switch {
	case !made.AssignmentsKnown && r.requireKnown:
		return append(ps, fleet.Problem{
			Path:    []fleet.Step{fleet.Attr("guardrails"), fleet.Attr("require_known")},
			Summary: "Assignments not known",
			Detail: fmt.Sprintf("The assignments depend on values that are known after apply:\n%s\n"+
				"guardrails.require_known refuses such a plan. Apply what gives those values first, or take them from what is known.",
				fleet.IndentedList(schedule.UnknownInputs(r.fleet), shown)),
		})
	case r.Tree == nil:
		return ps
	}
	return slices.Concat(ps, r.judgeUnscheduled(), r.Tree.Schedule.CheckUnsatisfied(ctx, r.fleet, r.unsatisfied), r.judgePath())
}

// judgePath reports a path at which the promoted commit's file would be in the way.
func (r *rendering) judgePath() fleet.Problems {
	if anyUnknown(r.Destination.Path, r.PromotedCommit) {
		return nil
	}
	if err := delivery.CheckPromotedCommit(r.Destination, r.Tree, r.PromotedCommit); err != nil {
		return fleet.Problems{{
			Path:    []fleet.Step{fleet.Attr("gitops_repo"), fleet.Attr("path")},
			Summary: "Path of the promoted commit", Detail: fleet.Sentence(err), Err: err,
		}}
	}
	return nil
}

func (r *rendering) judgeUnscheduled() fleet.Problems {
	targets := r.unscheduledTargets()
	if len(targets) == 0 || r.unscheduled == unscheduledIgnore || fleet.IsUnknown(r.unscheduled) {
		return nil
	}
	p := fleet.Problem{
		Severity: fleet.Warning,
		Path:     []fleet.Step{fleet.Attr("unscheduled")},
		Summary:  "Deployment targets that no policy places",
		Detail: fmt.Sprintf("No scheduling policy places %d of %s of environment %q:\n%s\nCompare their labels and workspace with the policies' %s, "+
			"and the labels of the cluster types with %s.",
			len(targets), fleet.Count(len(r.Tree.Schedule.Targets), "deployment target"), r.fleet.Environment, fleet.IndentedList(targets, shown),
			r.fleet.PolicyField("deployment_target_selector"), r.fleet.PolicyField("cluster_type_selector")),
	}
	if len(r.fleet.Policies) == 0 {
		p.Detail = fmt.Sprintf("%s None of the deployment targets of environment %q goes anywhere:\n%s", explain.NoPolicies, r.fleet.Environment,
			fleet.IndentedList(targets, shown))
	}
	if r.unscheduled == unscheduledError {
		p.Severity = fleet.Error
	}
	return fleet.Problems{p}
}

// judgeSecrets reports config values that are plainly secrets, unless what was delivered before has them already or nothing
// is to be delivered. It removes all of them from the problems that were found before.
func (r *rendering) judgeSecrets(found fleet.Problems, prior *delivery.Prior, before *delivery.State) fleet.Problems {
	secrets := delivery.FindClearSecrets(r.Configs)
	secrets.Hide(found)
	if len(secrets) == 0 || r.clearSecrets == fleet.Ignore || fleet.IsUnknown(string(r.clearSecrets)) ||
		r.Tree != nil && delivery.Decide(r.Desired, prior, before).Action == delivery.Keep {
		return found
	}
	ps := secrets.Problems(before)
	for i := range ps {
		ps[i].Severity = r.clearSecrets.Severity()
	}
	return append(found, ps...)
}

func (r *rendering) unscheduledTargets() []string {
	names := make([]string, len(r.Tree.Schedule.Unscheduled))
	for i, t := range r.Tree.Schedule.Unscheduled {
		names[i] = t.Name
	}
	return names
}

// pullRequests returns what brings changes to the branch by pull requests; nil where there is no host.
func pullRequests(host hosting.Host, d *delivery.Desired) *delivery.PullRequests {
	if host == nil {
		return nil
	}
	return &delivery.PullRequests{Host: host, PullRequestSettings: d.PullRequest}
}
