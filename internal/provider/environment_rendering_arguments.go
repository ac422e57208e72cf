package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// defaultBranchPrefix is the default of delivery.branch_prefix.
const defaultBranchPrefix = "deployment/"

// rendering is the tree that an apply leaves at its destination, and how much of it the plan shows.
type rendering struct {
	*delivery.AppliedTree
	preview string
}

// rendering returns a tree as the plan shows it.
func (m *environmentRenderingModel) rendering(t *delivery.AppliedTree) *rendering {
	return &rendering{t, previews.or(text(m.Preview))}
}

// arguments converts the arguments of a plan or a state, without the fleet.
func (m *environmentRenderingModel) arguments(ctx context.Context) *delivery.Arguments {
	repo, guardrails := nested[gitOpsRepoModel](ctx, m.GitOpsRepo), nested[guardrailsModel](ctx, m.Guardrails)
	given := nested[deliveryModel](ctx, m.Delivery)
	return &delivery.Arguments{
		Strategy:          delivery.Strategy(strategies.or(text(given.Strategy))),
		Destination:       record.NewDestination(text(repo.Repo), text(repo.Branch), text(repo.Path)),
		Environment:       text(m.Environment),
		Promotion:         record.Promotion{Commit: text(m.promoted())},
		Sources:           textMap(m.Sources),
		Message:           text(m.CommitMessage),
		Trailers:          textMap(m.CommitTrailers),
		Adopt:             m.Adopt.ValueBool(),
		CreateBranch:      m.CreateBranch.ValueBool(),
		KeepOld:           moves.or(text(m.OnMove)) == moveKeep,
		KeepOnDestroy:     destructions.or(text(m.OnDestroy)) == destroyKeep,
		Protected:         m.DeletionProtection.IsNull() || m.DeletionProtection.ValueBool(),
		OnDrift:           delivery.OnDrift(driftReactions.or(text(m.OnDrift))),
		OnAssignmentError: delivery.OnAssignmentError(assignmentErrors.or(text(m.OnAssignmentError))),
		Guardrails: delivery.Guardrails{
			MaxRemoved:   delivery.Limit(text(guardrails.MaxRemoved)),
			MaxKept:      delivery.Limit(text(guardrails.MaxKept)),
			AllowEmpty:   guardrails.AllowEmpty.ValueBool(),
			RequireKnown: guardrails.RequireKnown.ValueBool(),
			Unscheduled:  problem.Reaction(reactions.or(text(guardrails.Unscheduled))),
			Unsatisfied:  problem.Reaction(reactions.or(text(guardrails.Unsatisfied))),
			Secrets:      problem.Reaction(clearSecrets.or(text(guardrails.Secrets))),
			Moved:        problem.Reaction(reactions.or(text(guardrails.Moved))),

			DuplicateObjects: problem.Reaction(reactions.or(text(guardrails.DuplicateObjects))),
		},
		PullRequest: given.settings(),
		Review:      delivery.Review{Detail: delivery.Detail(descriptions.or(text(given.Describe)))},
		Incomplete:  !fullyKnown(ctx, m.GitOpsRepo, m.Delivery, m.Guardrails, m.OnMove, m.Adopt, m.CreateBranch),
	}
}

// settings converts the settings of pull requests.
func (m pullRequestModel) settings() pullrequest.Settings {
	prefix := text(m.BranchPrefix)
	if m.BranchPrefix.IsNull() {
		prefix = defaultBranchPrefix
	}
	return pullrequest.Settings{
		BranchPrefix: prefix,
		Labels:       texts(m.Labels),
		Reviewers:    texts(m.Reviewers),
		Draft:        m.Draft.ValueBool(),
		AutoMerge:    hosting.MergeMethod(text(m.AutoMerge)),
		Wait:         m.WaitForMerge.ValueBool(),
		Reopen:       m.Reopen.ValueBool(),
	}
}

// readArguments converts all arguments of a plan. It reports the invalid ones; it does not validate the fleet. It drops
// the sources that contain no origin.
func (m *environmentRenderingModel) readArguments(
	ctx context.Context, data *providerData,
) (*delivery.Arguments, problem.Problems) {
	a := m.arguments(ctx)
	ps := a.Validate()
	limits, invalid := nested[limitsModel](ctx, m.Limits).limits()
	ps = append(ps, invalid...)
	d := decoder{problems: &ps, arguments: map[string]attr.Value{
		"environment": m.Environment, "cluster_types": m.ClusterTypes, "templates": m.Templates, "configs": m.Configs,
		"config_schemas": m.ConfigSchemas, "scheduling_policies": m.SchedulingPolicies, "workloads": m.Workloads,
		"secrets": m.Secrets, yamlAttribute: m.Manifests, "rollout": m.Rollout, "promotion": m.Promotion,
	}}
	a.Fleet, a.Origins = readFleet(ctx, d, limits)
	if !unknown.Any(a.Sources) {
		a.Sources = a.Sources.Of(a.Origins)
	}
	a.Rollout = readRollout(d, a)
	readPromotionArguments(d, a, m.PromotedCommit)
	a.Review = data.review(a.Destination.Repo, a.Review.Detail)
	if data != nil {
		a.Author = data.committer(a.Trailers)
	}
	return a, ps
}

// readPromotionArguments reads the reason of the promoted commit.
func readPromotionArguments(d decoder, a *delivery.Arguments, promotedCommit types.String) {
	p := readPromotion(d)
	if p == nil {
		return
	}
	if text(promotedCommit) != "" {
		d.report("Two promoted commits", "Both promoted_commit and promotion name the promoted commit. Remove one of them.",
			problem.Attr("promoted_commit"))
	}
	a.Promotion.Reason, a.NoCommit = p.Reason, p.Commit == ""
	a.PromotionUnknown = unknown.Is(p.Commit) || unknown.Is(string(p.Decision))
	given, _ := d.object("promotion")
	a.Rejected = slices.Sorted(maps.Keys(readRejected(given)))
}

// prior converts what a state says about the last delivery.
func (m *environmentRenderingModel) prior(ctx context.Context) *delivery.Prior {
	if m == nil {
		return nil
	}
	a := m.arguments(ctx)
	return &delivery.Prior{
		Strategy:       a.Strategy,
		Destination:    a.Destination,
		Environment:    a.Environment,
		PullRequest:    a.PullRequest,
		PromotedCommit: a.Promotion.Commit,
		TreeHash:       m.TreeHash.ValueString(),
		TargetTreeHash: m.TargetTreeHash.ValueString(),
		Commit:         m.CommitSHA.ValueString(),
		Delivered:      m.Delivered.ValueBool(),
		Holders:        m.holders(),
	}
}
