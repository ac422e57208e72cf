package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// topic is our topic branch, the head of a pull request of one rendering.
type topic struct {
	key    key
	marker string             // identifies the pull request as ours
	at     record.Destination // on our branch
	target string             // branch
	branch *gitops.Branch
	onto   *gitops.Branch
	repo   hosting.Repo
}

func (r *PullRequests) topic(
	client *gitremote.Client, name, marker string, k key, target record.Destination,
) (*topic, error) {
	at := target
	at.Branch = name
	t := &topic{key: k, marker: marker, at: at, target: target.Branch}
	var err error
	if t.repo, err = r.Host.Repo(target.Repo); err != nil {
		return nil, err
	}
	if t.branch, err = gitops.Open(client, target.Repo, name); err != nil {
		return nil, err
	}
	t.onto, err = gitops.Open(client, target.Repo, target.Branch)
	return t, err
}

// renderingTopic returns the topic branch that proposes the rendering.
func (r *PullRequests) renderingTopic(client *gitremote.Client, d *Desired) (*topic, error) {
	k := d.key()
	return r.topic(client, branchName(r.BranchPrefix, k), k.marker(), k, d.Destination)
}

// removalTopic returns the topic branch that proposes the removal of a rendering. It differs from the one of the
// rendering, because an approval of the rendering is no approval of its removal.
func (r *PullRequests) removalTopic(
	client *gitremote.Client, at record.Destination, environment string,
) (*topic, error) {
	k := key{environment, at.Branch, at.Path}
	return r.topic(client, removalBranchName(r.BranchPrefix, k), k.removalMarker(), k, at)
}

// find returns the pull request from our branch: the open one, else the newest one, else nil. The marker identifies
// it, or its number, if people removed the marker; 0: the state knows none. If others opened one, the error is
// [hosting.ErrExists]: hosts allow only one.
func (t *topic) find(ctx context.Context, number int) (*hosting.PullRequest, error) {
	query := hosting.Query{Branch: t.at.Branch, Target: t.target, Marker: t.marker}
	found, err := t.repo.Find(ctx, query)
	if err != nil || found != nil && found.State == hosting.Open {
		return found, err
	}
	query.Marker, query.Open = "", true
	other, err := t.repo.Find(ctx, query)
	switch {
	case err != nil:
		return nil, err
	case other == nil:
		return found, nil
	case other.Number == number:
		return other, nil
	}
	return nil, &hosting.Error{
		Op: "find the pull request of branch " + t.at.Branch, Kind: hosting.ErrExists, Cause: fmt.Errorf(
			"pull request %d (%s) may not be this rendering's: its description lacks the line that says so. Restore the "+
				"line, close the pull request, or choose another delivery.branch_prefix", other.Number, other.URL),
	}
}

// readOurs reads our branch. pushed is the last commit that the state knows as ours. Another commit is ours if it has
// our trailer and lies directly on top of the target.
func (t *topic) readOurs(
	ctx context.Context, now *gitops.Snapshot, target *BranchState, pushed string,
) (*reviewBranch, error) {
	ours, err := readReviewBranch(now, t.at, t.key)
	if err != nil || !ours.trailer || ours.Head == pushed || ours.onTopOf(target.Head) {
		return ours, err
	}
	ours.trailer, err = ours.onTopOfAny(ctx, t.onto)
	return ours, err
}

// onTopOfAny reports whether the branch is one commit ahead of some commit of the target.
func (r *reviewBranch) onTopOfAny(ctx context.Context, target *gitops.Branch) (bool, error) {
	if len(r.parents) != 1 {
		return false, nil
	}
	_, found, err := target.History(ctx, plumbing.NewHash(r.parents[0]), nil)
	return found, err
}

// retries limits how often a proposal is retried: after the target took the change, if the host has not seen the push
// yet, and if the pull request ended while we pushed.
const retries = 5

// errChanged says that people opened, merged or closed the pull request after we looked for it.
var errChanged = errors.New("the pull request was opened, merged or closed meanwhile")

func (r *PullRequests) retry(ctx context.Context, propose func() error) error {
	for try := 1; ; try++ {
		err := propose()
		early := errors.Is(err, hosting.ErrNothingToMerge) || errors.Is(err, hosting.ErrBranchNotFound) ||
			errors.Is(err, errChanged)
		if !early || try == retries || r.sleep(ctx, try) != nil {
			return err
		}
	}
}

// Propose pushes the tree to our branch, as one commit on top of the destination's branch, and opens or updates one
// pull request. If the destination already holds the tree, it proposes nothing, and opens the pull requests that
// remove old locations. After an error, proposing again completes it.
func (r *PullRequests) Propose(
	ctx context.Context, client *gitremote.Client, d *Desired, s *State, progress Progress,
) (*Result, error) {
	s = s.current()
	t, err := r.renderingTopic(client, d)
	if err != nil {
		return nil, err
	}
	var result *Result
	err = r.retry(ctx, func() error {
		result, err = r.propose(ctx, client, t, d, s, progress)
		return err
	})
	var review *ReviewError
	if errors.As(err, &review) {
		review.Untracked = s == nil
	}
	if err != nil {
		return nil, err
	}
	if err := r.finishMove(ctx, client, d, s, t.at, result); err != nil {
		return nil, fmt.Errorf(
			"the tree was proposed, but the old locations were not cleaned up; the next apply tries again: %w", err)
	}
	return result, nil
}

// finishMove closes the pull request that the rendering opened for another destination. Once the destination holds
// the tree, it removes the old locations. now is the destination on our branch.
func (r *PullRequests) finishMove(
	ctx context.Context, client *gitremote.Client, d *Desired, s *State, now record.Destination, result *Result,
) error {
	if !s.Current() {
		return nil
	}
	if p := s.Proposal; p != nil && !p.Head.Destination.Same(now) {
		err := r.closeProposal(ctx, client, p)
		if errors.Is(err, errChanged) { // it was merged, so that it is an old location
			s, _, err = Follow(ctx, client, r.Host, s)
		}
		if err != nil {
			return err
		}
	}
	result.State.OldLocations = d.oldLocations(s)
	_, closing := d.removals(s, false)
	if err := r.closeRemovals(ctx, client, closing); err != nil {
		return err
	}
	outOfTime := ctx.Err() != nil
	if result.State.Proposal != nil || result.State.Drifted() || outOfTime {
		return nil //nolint:nilerr // the next apply removes them
	}
	var err error
	result.State, result.Removals, err = r.RemoveOld(ctx, client, d, result.State)
	return err
}

func (r *PullRequests) propose(
	ctx context.Context, client *gitremote.Client, t *topic, d *Desired, s *State, progress Progress,
) (*Result, error) {
	found, err := t.find(ctx, s.proposed())
	if err != nil {
		return nil, err
	}
	if s, err = r.afterMerge(ctx, client, s, found); err != nil {
		return nil, err
	}
	var planned *plannedChange
	var head *State // of our branch after the push
	var action reviewAction
	opts := gitops.UpdateOptions{Progress: progress}
	if d.updates(s) {
		opts.Cache = s.Cache
	}
	edit := func(_ context.Context, base, now *gitops.Snapshot) (*gitops.Edit, error) {
		var err error
		if planned, err = d.planChange(base, s); err != nil {
			return nil, err
		}
		ours, err := t.readOurs(ctx, now, planned.at, s.pushed())
		if err != nil {
			return nil, err
		}
		if action, err = d.review(s, planned.Change, planned.at, ours, t.at, found); err != nil || action == reviewNothing {
			return nil, err
		}
		head = d.delivered(t.at, planned, "")
		if action != reviewPush {
			head.DeliveredRecord, head.Seen = ours.RecordHash, *ours.BranchState
			return nil, nil
		}
		edit := d.edit(planned.Change)
		edit.Message = withTrailer(edit.Message, t.key.trailer(planned.RecordHash, planned.Wanted.hashes()))
		return edit, nil
	}
	pushed, err := t.branch.ForceWithLease(ctx, t.onto, opts, edit)
	if err != nil {
		return nil, err
	}
	// An open removal would remove what is desired again.
	if err := r.closeRemoval(ctx, client, d.Destination, d.Environment); err != nil {
		return nil, err
	}
	result := &Result{
		State: d.targetState(planned), Before: planned.before,
		Adoption: planned.Adoption, Pushed: pushed.Pushed,
	}
	if action == reviewNothing || action == reviewPush && !pushed.Pushed {
		return result, r.finishDelivered(ctx, client, t, d, s, found, planned, result)
	}
	head.Base, head.Seen.Head = pushed.Commit.String(), pushed.Commit.String()
	result.State.Proposal = &Proposal{
		Head: head, Pushed: head.Base, State: hosting.Open,
		Adopted: planned.Held.only(planned.Adoption.Adopted), Tracking: planned.at.PromotedCommitFile,
	}
	proposal := result.State.Proposal
	if action == reviewStayClosed {
		result.PullRequest, proposal.Number, proposal.State = found, found.Number, found.State
		if r.Wait {
			err = &ReviewError{PullRequest: found, Closed: true}
		}
		return result, err
	}
	promotes := d.promotes(s, planned.Change, planned.at)
	p := r.proposal(t, d.commitMessage(planned.Change), d.Describe(planned.before), promotes)
	pr, err := r.publish(ctx, t, found, p, head.Base, s.proposalOf(found))
	if err != nil {
		return nil, err
	}
	result.PullRequest, proposal.Number, proposal.State, proposal.AutoMerge = pr, pr.Number, pr.State, r.AutoMerge
	proposal.RequestedReviewers = p.Reviewers
	if pr.State != hosting.Merged {
		return result, nil
	}
	ctx, cancel := finishContext(ctx)
	defer cancel()
	result.State, result.PullRequest, err = Follow(ctx, client, r.Host, result.State)
	result.Commit = pr.MergeCommit
	return result, err
}

// afterMerge returns the state after the merge of the pull request, which people may merge at any time. If the merge
// contains changes of others, it returns s, from which the plan was made.
func (r *PullRequests) afterMerge(
	ctx context.Context, client *gitremote.Client, s *State, found *hosting.PullRequest,
) (*State, error) {
	if found == nil || found.State != hosting.Merged || s.proposalOf(found) == nil {
		return s, nil
	}
	now, _, err := Follow(ctx, client, r.Host, s)
	if err != nil || now.Proposal != nil || now.Drifted() {
		return s, err
	}
	return now, nil
}

// finishDelivered finishes a proposal whose target already holds the tree. It closes an open pull request and deletes
// our branch, so that the same tree can be proposed again later.
func (r *PullRequests) finishDelivered(ctx context.Context, client *gitremote.Client, t *topic, d *Desired, s *State,
	found *hosting.PullRequest, planned *plannedChange, result *Result,
) error {
	result.State.Delivered, result.State.Inputs = planned.Wanted, d.inputsAfter(planned.before)
	result.State.Rollout = d.rolloutAfter(false)
	result.Commit = result.State.Seen.Head
	switch {
	case found == nil:
	case found.State != hosting.Merged:
		return r.closeTopic(ctx, client, t, s, found)
	case found.MergeCommit == result.Commit:
		result.PullRequest = found
	}
	return nil
}
