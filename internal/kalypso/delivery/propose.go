package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// topic is our branch, from which a pull request of one rendering comes, with the repo as its host has it.
type topic struct {
	key    key
	at     Destination // on our branch
	target string      // branch
	branch *gitops.Branch
	onto   *gitops.Branch
	repo   hosting.Repo
}

func (r *PullRequests) topic(client *gitremote.Client, name string, k key, target Destination) (*topic, error) {
	t := &topic{key: k, at: Destination{target.Repo, name, target.Path}, target: target.Branch}
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

func (t *topic) find(ctx context.Context) (*hosting.PullRequest, error) {
	return t.repo.Find(ctx, hosting.Query{Branch: t.at.Branch, Target: t.target, Marker: t.key.marker()})
}

// rebuilds bounds how often a pull request is opened that the host has nothing for: its target took the change meanwhile, or
// the host has not seen the push yet.
const rebuilds = 5

// Propose pushes the tree to our branch, one commit on top of the destination's, and has it reviewed in one pull request, ours
// if there is one. Where the destination's branch holds the tree already there is nothing to propose. Doing it again completes
// what failed.
func (r *PullRequests) Propose(ctx context.Context, client *gitremote.Client, d *Desired, s *State, progress Progress) (*Result, error) {
	s = s.current()
	t, err := r.topic(client, branchName(r.BranchPrefix, d.key()), d.key(), d.Destination)
	if err != nil {
		return nil, err
	}
	var result *Result
	for try := 1; ; try++ {
		result, err = r.propose(ctx, client, t, d, s, progress)
		early := errors.Is(err, hosting.ErrNothingToMerge) || errors.Is(err, hosting.ErrBranchNotFound)
		if !early || try == rebuilds || r.sleep(ctx, try) != nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if err := r.cleanUp(ctx, client, d, s, t.at, result); err != nil {
		return nil, fmt.Errorf("the tree was proposed, and what was there before could not be cleaned; the next apply tries again: %w", err)
	}
	return result, nil
}

func (r *PullRequests) propose(ctx context.Context, client *gitremote.Client, t *topic, d *Desired, s *State, progress Progress) (*Result, error) {
	found, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	var planned *plannedChange
	var head *State // of our branch, as it is to be
	var action reviewAction
	opts := gitops.UpdateOptions{Progress: progress}
	if d.updates(s) {
		opts.Cache = s.Cache
	}
	pushed, err := t.branch.ForceWithLease(ctx, t.onto, opts, func(_ context.Context, base, now *gitops.Snapshot) (*gitops.Edit, error) {
		var err error
		if planned, err = d.planChange(base, s); err != nil {
			return nil, err
		}
		ours, err := readReviewBranch(now, t.at, t.key)
		if err != nil {
			return nil, err
		}
		if action, err = d.review(s, planned.Change, planned.at, ours, t.at, found); err != nil || action == reviewNothing {
			return nil, err
		}
		head = d.delivered(t.at, planned, "")
		if action != reviewRebuild {
			head.DeliveredRecord, head.Seen = ours.RecordHash, *ours.BranchState
			return nil, nil
		}
		edit := d.edit(planned.Change)
		edit.Message = withTrailer(edit.Message, t.key.trailer(planned.RecordHash, planned.Wanted.hashes()))
		return edit, nil
	})
	if err != nil {
		return nil, err
	}
	result := &Result{
		State: d.standing(planned), Before: planned.before,
		Adoption: planned.Adoption, Pushed: pushed.Pushed,
	}
	if action == reviewNothing || action == reviewRebuild && !pushed.Pushed {
		return result, r.settle(ctx, client, t, d, s, found, planned, result)
	}
	head.Base, head.Seen.Head = pushed.Commit.String(), pushed.Commit.String()
	result.State.Proposal = &Proposal{
		Head: head, Pushed: head.Base, State: hosting.Open,
		Adopted: planned.Held.only(planned.Adoption.Adopted), Tracking: planned.at.PromotedCommitFile,
	}
	proposal := result.State.Proposal
	if action == reviewAbandon {
		result.PullRequest, proposal.Number, proposal.State = found, found.Number, found.State
		if r.Wait {
			err = &ReviewError{PullRequest: found, Closed: true}
		}
		return result, err
	}
	p := r.proposal(t, d.commitMessage(planned.Change), d.Describe(planned.before), d.promotes(s, planned.Change, planned.at))
	pr, err := r.publish(ctx, t, found, p, head.Base, s.autoMerge())
	if err != nil {
		return nil, err
	}
	result.PullRequest, proposal.Number, proposal.State, proposal.AutoMerge = pr, pr.Number, pr.State, r.AutoMerge
	if pr.State != hosting.Merged {
		return result, nil
	}
	result.State, result.PullRequest, err = Follow(ctx, client, r.Host, result.State)
	result.Commit = pr.MergeCommit
	return result, err
}

// settle ends a proposal whose target holds the tree already, whoever brought it there. Our branch goes with one that was not
// merged: the same tree may be proposed again later.
func (r *PullRequests) settle(ctx context.Context, client *gitremote.Client, t *topic, d *Desired, s *State,
	found *hosting.PullRequest, planned *plannedChange, result *Result,
) error {
	result.State.Delivered, result.State.Inputs = planned.Wanted, d.inputs()
	result.Commit = result.State.Seen.Head
	switch {
	case found == nil:
	case found.State != hosting.Merged:
		return r.end(ctx, client, t, s, found)
	case found.MergeCommit == result.Commit:
		result.PullRequest = found
	}
	return nil
}
