package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Propose pushes the tree to our branch, as one commit on top of the destination's branch, and opens or updates one
// pull request. If the destination already contains the tree, it proposes nothing, and opens the pull requests that
// remove old locations. After an error, proposing again completes it.
func (r *pullRequests) Propose(ctx context.Context, applied *next.Next, s *past.State) (*Result, error) {
	s = s.OrNil()
	t, err := r.renderingTopic()
	if err != nil {
		return nil, err
	}
	result, err := r.propose(ctx, t, applied, s)
	if review, ok := errors.AsType[*pullrequest.ReviewError](err); ok {
		review.Untracked = s == nil
	}
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
func (r *pullRequests) finishMove(ctx context.Context, s *past.State, now destination.Destination, result *Result) error {
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
	result.State.OldLocations = delivery.OldLocations(r.wish, s)
	_, closing := delivery.Removals(r.wish, s, false)
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

// proposing is the last attempt of a proposal.
type proposing struct {
	found     *githost.PullRequest // before the attempt, or nil
	s         *past.State          // after the merge of the pull request
	planned   *delivery.Change
	ownBranch *past.Branch // our branch before the push
}

func (r *pullRequests) propose(
	ctx context.Context, t *pullrequest.Topic, applied *next.Next, s *past.State,
) (*Result, error) {
	var last proposing
	run, err := t.Run(ctx, known(s, t),
		func(ctx context.Context, found *githost.PullRequest) (pullrequest.ProposedChange, error) {
			after, err := r.afterMerge(ctx, t, s, found)
			if err != nil {
				return pullrequest.ProposedChange{}, err
			}
			last = proposing{found: found, s: after}
			return r.change(t, applied, &last), nil
		})
	if err != nil {
		return nil, err
	}
	return r.proposed(ctx, t, &last, run)
}

// change returns the change that the pull request proposes. Its attempt keeps what it read.
func (r *pullRequests) change(t *pullrequest.Topic, applied *next.Next, p *proposing) pullrequest.ProposedChange {
	c := pullrequest.ProposedChange{Options: gitbranch.UpdateOptions{Progress: r.remote.Progress}}
	if applied.Wish.Updates(p.s) {
		c.Options.Cache = p.s.Cache
	}
	c.Edit = func(ctx context.Context, target, ours *gitbranch.Snapshot) (edit pullrequest.Edit, err error) {
		if p.planned, err = readChange(applied, target, p.s); err != nil {
			return edit, err
		}
		if p.ownBranch, edit, err = readTopic(ctx, p.planned.Next, t, ours, p.s, p.planned.Branch.Head); err != nil {
			return edit, err
		}
		edit.Needed = p.planned.Needed
		// Without our branch, the same tree can be proposed again later.
		edit.Discard = p.found != nil && p.found.State != githost.Merged
		edit.Commit = func() *gitbranch.Edit { return p.planned.Edit() }
		edit.Contents = contents(p.planned.RecordHash, p.planned.Wanted.Hashes())
		return edit, nil
	}
	// An open removal would remove the tree that is desired again.
	c.Pushed = func(ctx context.Context) error {
		return r.closeRemoval(ctx, r.wish.Destination, r.wish.Environment)
	}
	c.Text = func(ctx context.Context) pullrequest.Text {
		reviewers, _ := owners.Asked(r.wish.PullRequest.Reviewers, describe.ReachedOwners(p.planned.Next, p.planned.Before))
		return pullrequest.Text{
			Message: p.planned.CommitMessage(), Body: describe.Rendering(ctx, p.planned.Next, p.planned.Before),
			Promoted: p.planned.Promotes(p.s), Reviewers: reviewers,
		}
	}
	return c
}

// proposed returns the result of a run.
func (r *pullRequests) proposed(
	ctx context.Context, t *pullrequest.Topic, p *proposing, run *pullrequest.Outcome,
) (*Result, error) {
	planned, pr := p.planned, run.PullRequest
	result := &Result{
		State: planned.TargetState(), Applied: planned.Next, Before: planned.Before, Pushed: run.Pushed, PullRequest: pr,
	}
	if pr == nil { // the target contains the tree
		result.State.Delivered, result.State.Inputs = planned.Wanted, planned.InputsAfter()
		result.State.Rollout = planned.Next.RolloutAfter(false)
		result.Commit = result.State.LastRead.Head
		if p.found != nil && p.found.State == githost.Merged && p.found.MergeCommit == result.Commit {
			result.PullRequest = p.found
		}
		return result, nil
	}
	head := planned.Delivered(destinationOf(t), "")
	if !run.Pushed {
		head.DeliveredRecord, head.LastRead = p.ownBranch.RecordHash, *p.ownBranch
	}
	head.Base, head.LastRead.Head = run.Head, run.Head
	proposal := &past.Proposal{
		Head: head, Pushed: run.Head, Number: pr.Number, State: pr.State,
		Adopted: planned.Existing.Only(planned.Adoption.Adopted), Tracking: planned.Branch.PromotedCommitFile,
	}
	result.State.Proposal = proposal
	if pr.State == githost.Closed { // by people, who are not requested again
		return result, nil
	}
	proposal.AutoMerge, proposal.RequestedReviewers = r.wish.PullRequest.AutoMerge, run.Requested
	if pr.State != githost.Merged {
		return result, nil
	}
	ctx, cancel := pullrequest.FinishContext(ctx)
	defer cancel()
	var err error
	result.State, result.PullRequest, err = r.remote.follow(ctx, result.State)
	result.Commit = pr.MergeCommit
	return result, err
}

// afterMerge returns the state after the merge of the pull request, which people may merge at any time. If the merge
// contains foreign changes, it returns s, from which the plan was made.
func (r *pullRequests) afterMerge(
	ctx context.Context, t *pullrequest.Topic, s *past.State, found *githost.PullRequest,
) (*past.State, error) {
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
