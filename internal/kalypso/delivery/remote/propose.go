package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Propose pushes the tree to our branch, as one commit on top of the destination's branch, and opens or updates one
// pull request. If the destination already contains the tree, it proposes nothing, and opens the pull requests that
// remove old locations. After an error, proposing again completes it.
func (r *pullRequests) Propose(ctx context.Context, applied *delivery.NextTree, s *delivery.State) (*Result, error) {
	s = s.OrNil()
	t, err := r.renderingTopic()
	if err != nil {
		return nil, err
	}
	change := &renderingChange{pulls: r, topic: t, applied: applied, before: s}
	outcome, err := t.Run(ctx, known(s, t), change)
	if review, ok := errors.AsType[*pullrequest.ReviewError](err); ok {
		review.Untracked = s == nil
	}
	if err != nil {
		return nil, err
	}
	result, err := change.result(ctx, outcome)
	if err != nil {
		return nil, err
	}
	if err := r.finishMove(ctx, s, destinationOf(t), result); err != nil {
		return nil, fmt.Errorf(
			"the tree was proposed, but the old locations were not cleaned up; the next apply tries again: %w", err)
	}
	return result, nil
}

// finishMove closes the pull request that the rendering opened for another destination. Once the destination contains
// the tree, it removes the old locations. now is the destination on our branch.
func (r *pullRequests) finishMove(
	ctx context.Context, s *delivery.State, now destination.Destination, result *Result,
) error {
	if !s.Current() {
		return nil
	}
	if p := s.Proposal; p != nil && !p.Head.Destination.Same(now) {
		err := r.closeProposal(ctx, s)
		if errors.Is(err, pullrequest.ErrChanged) { // it was merged, so that it is an old location
			s, _, err = r.remote.follow(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	result.State.OldLocations = delivery.OldLocations(r.args, s)
	_, closing := delivery.RemovalPullRequests(r.args, s, false)
	if err := r.closeRemovals(ctx, closing); err != nil {
		return err
	}
	outOfTime := ctx.Err() != nil
	if result.State.Proposal != nil || result.State.Drifted() || outOfTime {
		return nil //nolint:nilerr // the next apply removes them
	}
	var err error
	result.State, result.Removals, err = r.RemoveOld(ctx, result.State)
	return err
}

// renderingChange is the change of a rendering that a pull request proposes. It implements [pullrequest.Change].
type renderingChange struct {
	pulls   *pullRequests
	topic   *pullrequest.Topic
	applied *delivery.NextTree
	before  *delivery.State // of which the plan was made

	found *githost.PullRequest // before the change, or nil
	state *delivery.State      // after the merge of the pull request

	// The last comparison set these.
	change    *delivery.Change
	cache     gitbranch.TreeCache // of the target branch
	ownBranch *delivery.Branch    // before the push
}

// Begin implements [pullrequest.Change].
func (c *renderingChange) Begin(
	ctx context.Context, found *githost.PullRequest,
) (options gitbranch.PushOptions, err error) {
	c.found = found
	c.state, err = c.pulls.afterMerge(ctx, c.topic, c.before, found)
	options.Progress = c.pulls.remote.Progress
	if err == nil && delivery.CaseOf(c.applied.Args, c.state) == delivery.Update {
		options.Cache = c.state.Cache
	}
	return options, err
}

// Compare implements [pullrequest.Change].
func (c *renderingChange) Compare(
	ctx context.Context, target, ours *gitbranch.Snapshot,
) (compared pullrequest.Comparison, err error) {
	c.change, err = readChange(c.applied, target, c.state)
	if err != nil {
		return compared, err
	}
	c.cache = target.TreeCache(c.applied.Args.Destination.RecordPath())
	c.ownBranch, compared, err = readTopic(ctx, c.change.Next, c.topic, ours, c.state, c.change.Branch.Head)
	if err != nil {
		return compared, err
	}
	compared.Needed = c.change.Needed
	// Without our branch, the same tree can be proposed again later.
	compared.Discard = c.found != nil && c.found.State != githost.Merged
	compared.Contents = contents(c.change.RecordHash, c.change.Wanted.Hashes())
	return compared, nil
}

// Commit implements [pullrequest.Change].
func (c *renderingChange) Commit() *gitbranch.Edit {
	return c.change.Edit(describe.CommitMessage(c.change))
}

// Pushed implements [pullrequest.Change]. An open removal would remove the tree that is desired again.
func (c *renderingChange) Pushed(ctx context.Context) error {
	return c.pulls.closeRemoval(ctx, c.pulls.args.Destination, c.pulls.args.Environment)
}

// Text implements [pullrequest.Change].
func (c *renderingChange) Text(ctx context.Context) pullrequest.Text {
	applied, before := c.change.Next, c.change.Before
	reviewers, _ := owners.Asked(c.pulls.args.PullRequest.Reviewers, describe.ReachedOwners(applied, before))
	return pullrequest.Text{
		Message: describe.CommitMessage(c.change), Body: describe.Rendering(ctx, applied, before),
		Promoted: c.change.Promotes(), Reviewers: reviewers,
	}
}

// result returns the result of a run.
func (c *renderingChange) result(ctx context.Context, outcome *pullrequest.Outcome) (*Result, error) {
	change, pr := c.change, outcome.PullRequest
	result := &Result{
		State: change.TargetState(), Applied: change.Next, Before: change.Before, Pushed: outcome.Pushed, PullRequest: pr,
	}
	result.State.Cache = c.cache
	if pr == nil { // the target contains the tree
		result.State.Delivered, result.State.Inputs = change.Wanted, change.InputsAfter()
		result.State.Rollout = change.Next.RolloutAfter(false)
		result.Commit = result.State.LastRead.Head
		if c.found != nil && c.found.State == githost.Merged && c.found.MergeCommit == result.Commit {
			result.PullRequest = c.found
		}
		return result, nil
	}
	head := change.Delivered(destinationOf(c.topic), "")
	head.Cache = c.cache
	if !outcome.Pushed {
		head.DeliveredRecord, head.LastRead = c.ownBranch.RecordHash, *c.ownBranch
	}
	head.Base, head.LastRead.Head = outcome.Head, outcome.Head
	proposal := &delivery.Proposal{
		Head: head, Pushed: outcome.Head, Number: pr.Number, State: pr.State,
		Adopted: change.Existing.Only(change.Adoption.Adopted), Tracking: change.Branch.PromotedCommitFile,
	}
	result.State.Proposal = proposal
	if pr.State == githost.Closed { // by people, who are not requested again
		return result, nil
	}
	proposal.AutoMerge, proposal.RequestedReviewers = c.pulls.args.PullRequest.AutoMerge, outcome.Requested
	if pr.State != githost.Merged {
		return result, nil
	}
	ctx, cancel := pullrequest.FinishContext(ctx)
	defer cancel()
	var err error
	result.State, result.PullRequest, err = c.pulls.remote.follow(ctx, result.State)
	result.Commit = pr.MergeCommit
	return result, err
}

// afterMerge returns the state after the merge of the pull request, which people may merge at any time. If the merge
// contains foreign changes, it returns s, from which the plan was made.
func (r *pullRequests) afterMerge(
	ctx context.Context, t *pullrequest.Topic, s *delivery.State, found *githost.PullRequest,
) (*delivery.State, error) {
	before := known(s, t)
	if before == nil || found == nil || found.State != githost.Merged || found.Number != before.Number {
		return s, nil
	}
	now, _, err := r.remote.follow(ctx, s)
	if err != nil || now.Proposal != nil || now.Drifted() {
		return s, err
	}
	return now, nil
}
