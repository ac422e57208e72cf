package rendering

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// rendering is the tree that an apply leaves at its destination, and how much of it the plan shows.
type rendering struct {
	*delivery.AppliedTree
	preview string
}

// rendering returns a tree as the plan shows it.
func (m *environmentRenderingModel) rendering(t *delivery.AppliedTree) *rendering {
	return &rendering{t, previews.Or(tfvalue.Text(m.Preview))}
}

// arguments converts the arguments of a plan or a state, without the fleet.
func (m *environmentRenderingModel) arguments(ctx context.Context) *delivery.Arguments {
	repo, guardrails := tfvalue.Nested[gitOpsRepoModel](
		ctx,
		m.GitOpsRepo,
	), tfvalue.Nested[guardrailsModel](
		ctx,
		m.Guardrails,
	)
	given := tfvalue.Nested[deliveryModel](ctx, m.Delivery)
	return &delivery.Arguments{
		Strategy: strategy.Strategy(schemas.Strategies.Or(tfvalue.Text(given.Strategy))),
		Destination: record.NewDestination(
			tfvalue.Text(repo.Repo),
			tfvalue.Text(repo.Branch),
			tfvalue.Text(repo.Path),
		),
		Environment:       tfvalue.Text(m.Environment),
		Promotion:         record.Promotion{Commit: tfvalue.Text(m.promoted())},
		Sources:           tfvalue.TextMap(m.Sources),
		Message:           tfvalue.Text(m.CommitMessage),
		Trailers:          tfvalue.TextMap(m.CommitTrailers),
		Adopt:             m.Adopt.ValueBool(),
		CreateBranch:      m.CreateBranch.ValueBool(),
		KeepOld:           moves.Or(tfvalue.Text(m.OnMove)) == moveKeep,
		KeepOnDestroy:     destructions.Or(tfvalue.Text(m.OnDestroy)) == destroyKeep,
		Protected:         m.DeletionProtection.IsNull() || m.DeletionProtection.ValueBool(),
		OnDrift:           drift.Reaction(schemas.DriftReactions.Or(tfvalue.Text(m.OnDrift))),
		OnAssignmentError: delivery.OnAssignmentError(assignmentErrors.Or(tfvalue.Text(m.OnAssignmentError))),
		Guardrails: delivery.Guardrails{
			MaxRemoved:   delivery.Limit(tfvalue.Text(guardrails.MaxRemoved)),
			MaxKept:      delivery.Limit(tfvalue.Text(guardrails.MaxKept)),
			AllowEmpty:   guardrails.AllowEmpty.ValueBool(),
			RequireKnown: guardrails.RequireKnown.ValueBool(),
			Unscheduled:  problem.Reaction(reactions.Or(tfvalue.Text(guardrails.Unscheduled))),
			Unsatisfied:  problem.Reaction(reactions.Or(tfvalue.Text(guardrails.Unsatisfied))),
			Secrets:      problem.Reaction(clearSecrets.Or(tfvalue.Text(guardrails.Secrets))),
			Moved:        problem.Reaction(reactions.Or(tfvalue.Text(guardrails.Moved))),

			DuplicateObjects: problem.Reaction(reactions.Or(tfvalue.Text(guardrails.DuplicateObjects))),
		},
		PullRequest: given.Settings(),
		Review:      delivery.Review{Detail: delivery.Detail(schemas.Descriptions.Or(tfvalue.Text(given.Describe)))},
		Incomplete:  !tfvalue.FullyKnown(ctx, m.GitOpsRepo, m.Delivery, m.Guardrails, m.OnMove, m.Adopt, m.CreateBranch),
	}
}

// readArguments converts all arguments of a plan. It reports the invalid ones; it does not validate the fleet. It drops
// the sources that contain no origin.
func (m *environmentRenderingModel) readArguments(
	ctx context.Context, data *configuration.Data,
) (*delivery.Arguments, problem.Problems) {
	a := m.arguments(ctx)
	ps := a.Validate()
	limits, invalid := tfvalue.Nested[limitsModel](ctx, m.Limits).limits()
	ps = append(ps, invalid...)
	d := tfvalue.Decoder{Problems: &ps, Arguments: map[string]attr.Value{
		"environment": m.Environment, "cluster_types": m.ClusterTypes, "templates": m.Templates, "configs": m.Configs,
		"config_schemas": m.ConfigSchemas, "scheduling_policies": m.SchedulingPolicies, "workloads": m.Workloads,
		"secrets": m.Secrets, tfvalue.ManifestsAttribute: m.Manifests, "rollout": m.Rollout, "promotion": m.Promotion,
	}}
	a.Fleet, a.Origins = model.ReadFleet(ctx, d, limits)
	if !unknown.Any(a.Sources) {
		a.Sources = a.Sources.Of(a.Origins)
	}
	a.Rollout = readRollout(d, a)
	readPromotionArguments(d, a, m.PromotedCommit)
	a.Review = data.Review(a.Destination.Repo, a.Review.Detail)
	if data != nil {
		a.Author = data.Committer(a.Trailers)
	}
	return a, ps
}

// readPromotionArguments reads the reason of the promoted commit.
func readPromotionArguments(d tfvalue.Decoder, a *delivery.Arguments, promotedCommit types.String) {
	p := schemas.ReadPromotion(d)
	if p == nil {
		return
	}
	if tfvalue.Text(promotedCommit) != "" {
		d.Report(
			"Conflicting promoted commits",
			"Both promoted_commit and promotion name the promoted commit. Remove one of them.",
			problem.Attr("promoted_commit"),
		)
	}
	a.Promotion.Reason, a.NoCommit = p.Reason, p.Commit == ""
	a.PromotionUnknown = unknown.Is(p.Commit) || unknown.Is(string(p.Decision))
	given, _ := d.Object("promotion")
	a.Rejected = slices.Sorted(maps.Keys(schemas.ReadRejected(given)))
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
		Placed:         m.placed(),
	}
}
