package rendering

import (
	"context"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// previewOf returns the argument preview, or its default.
func previewOf(m resources.Model) string { return previews.Or(m.Decoder().String("preview")) }

// promotedCommit returns the promoted commit, whichever argument names it.
func promotedCommit(d tfvalue.Decoder) string {
	if promotion, ok := d.Object("promotion"); ok {
		return promotion.String("commit")
	}
	return d.String("promoted_commit")
}

// decodeArguments converts the arguments of a plan or a state, without the fleet.
func decodeArguments(d tfvalue.Decoder) *delivery.Arguments {
	repo, _ := d.Object("gitops_repo")
	given, _ := d.Object("delivery")
	return &delivery.Arguments{
		Strategy:        destination.Strategy(schemas.Strategies.Or(given.String("strategy"))),
		Destination:     destination.New(repo.String("repo"), repo.String("branch"), repo.String("path")),
		Environment:     d.String("environment"),
		Promotion:       promotion.Promotion{Commit: promotedCommit(d)},
		Sources:         d.StringMap("sources"),
		Verified:        d.StringMap("verified"),
		Message:         d.String("commit_message"),
		Trailers:        d.StringMap("commit_trailers"),
		Adopt:           d.True("adopt"),
		CreateBranch:    d.True("create_branch"),
		KeepOld:         d.String("on_move") == keep,
		KeepOnDestroy:   d.String("on_destroy") == keep,
		Protected:       d.UnlessFalse("deletion_protection"),
		OnDrift:         drift.Reaction(schemas.DriftReactions.Or(d.String("on_drift"))),
		KeepFailed:      d.String("on_assignment_error") == keep,
		Guardrails:      readGuardrails(d),
		AcceptedChanges: d.Strings("accepted_changes"),
		Feedback:        readFeedback(d),

		PullRequest: schemas.ReadPullRequestSettings(given),
		Owners:      readOwners(given),
		Review:      delivery.Review{Detail: delivery.Detail(schemas.Descriptions.Or(given.String("describe")))},
		Preview:     d.String("preview"),
		Shown:       known(d, "preview"),
		Known:       known(d, "gitops_repo", "delivery", "guardrails", "on_move", "adopt", "create_branch"),
	}
}

// readGuardrails reads the argument guardrails, with the defaults of the reactions.
func readGuardrails(d tfvalue.Decoder) (g delivery.Guardrails) {
	given, _ := d.Object("guardrails")
	given.Read(&g)
	orDefault := func(of schemas.Enumeration, given ...*problem.Reaction) {
		for _, reaction := range given {
			*reaction = problem.Reaction(of.Or(string(*reaction)))
		}
	}
	orDefault(strictReactions, &g.Emptied, &g.Orphaned, &g.Secrets)
	orDefault(invalidObjects, &g.InvalidObjects)
	orDefault(reactions, &g.Moved, &g.Unscheduled, &g.Unsatisfied, &g.Requires, &g.DuplicateObjects)
	return g
}

// known returns how much of arguments is known.
func known(d tfvalue.Decoder, names ...string) inventory.Known {
	if !d.Known(names...) {
		return inventory.Partial
	}
	return inventory.Whole
}

// readArguments converts all arguments of a plan. It reports the invalid ones; it does not validate the fleet. It drops
// the sources that contain no origin.
func readArguments(
	ctx context.Context, m resources.Model, data *configuration.Data,
) (*delivery.Arguments, problem.Problems) {
	var ps problem.Problems
	d := m.Reporting(&ps)
	a := decodeArguments(d)
	ps = append(ps, a.Validate()...)
	a.Fleet, a.Origins = model.ReadFleet(ctx, d, readLimits(d))
	if !unknown.Any(a.Sources) {
		a.Sources = a.Sources.Of(a.Origins)
	}
	ps = append(ps, a.Owners.Check(a.Fleet)...)
	a.Rollout = readRollout(d, a)
	readPromotionArguments(d, a)
	a.Review = data.Review(a.Destination.Repo, a.Review.Detail)
	if data != nil {
		a.Author = data.Committer(a.Trailers)
	}
	return a, ps
}

// readPromotionArguments reads the reason of the promoted commit.
func readPromotionArguments(d tfvalue.Decoder, a *delivery.Arguments) {
	p := schemas.ReadPromotion(d)
	if p == nil {
		return
	}
	if d.String("promoted_commit") != "" {
		d.Report(
			"Conflicting promoted commits",
			"Both promoted_commit and promotion name the promoted commit. Remove one of them.",
			problem.Attr("promoted_commit"),
		)
	}
	a.Promotion.Reason, a.Promotion.Settled, a.Promotion.Unproven = p.Reason, p.Settled, p.Unproven
	a.Promotion.Closed, a.Promotion.OpenUntil = p.Closed, p.OpenUntil
	a.NoCommit = p.Commit == ""
	a.PromotionUnknown = unknown.Is(p.Commit) || unknown.Is(string(p.Decision))
	given, _ := d.Object("promotion")
	a.Rejected = slices.Sorted(maps.Keys(schemas.ReadRejected(given)))
	a.Approved = given.Strings("approved")
}

// paused reports whether the rollout of a state was paused, by people or by its windows.
func paused(d tfvalue.Decoder) bool {
	r := readRollout(d, &delivery.Arguments{Fleet: &fleet.Fleet{}})
	return r != nil && r.Paused() != ""
}

// priorOf converts the attributes of a state that describe the last delivery. It returns nil for no state.
func priorOf(m resources.Model) *delivery.Prior {
	if m == nil {
		return nil
	}
	d := m.Decoder()
	a := decodeArguments(d)
	return &delivery.Prior{
		Strategy:       a.Strategy,
		Destination:    a.Destination,
		Environment:    a.Environment,
		PullRequest:    a.PullRequest,
		Owners:         a.Owners,
		PromotedCommit: a.Promotion.Commit,
		Promotes:       !m.IsNull("promotion"),
		TreeHash:       m.Text("tree_hash"),
		TargetTreeHash: m.Text("target_tree_hash"),
		Commit:         m.Text("commit_sha"),
		Delivered:      d.True("delivered"),
		Placed:         placed(m["assignments"]),
		Paused:         paused(d),
		Described:      !m.IsNull("description"),
		Preview:        a.Preview,
	}
}
