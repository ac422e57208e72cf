package delivery

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// ClosePullRequest closes the pull request of a proposal that nobody waits for any more, and deletes our branch, unless others
// pushed to it.
func ClosePullRequest(ctx context.Context, client *gitremote.Client, host hosting.Host, p *Proposal) error {
	repo, err := host.Repo(p.Head.Destination.Repo)
	if err != nil {
		return err
	}
	if p.Open() && p.Number != 0 {
		if _, err := repo.Close(ctx, p.Number); err != nil {
			return err
		}
	}
	branch, err := gitops.Open(client, p.Head.Destination.Repo, p.Head.Destination.Branch)
	if err != nil {
		return err
	}
	head, err := branch.Head(ctx)
	if err != nil || head.IsZero() || head.String() != p.Head.Base {
		return err
	}
	if err := branch.Delete(ctx, head); err != nil && !errors.Is(err, gitremote.ErrBranchMoved) {
		return err
	}
	return nil
}

// cleanUp removes what the rendering had elsewhere before: its proposal, and what was delivered to another branch, which a pull
// request of its own removes. now is the destination on our branch.
func (r *PullRequests) cleanUp(ctx context.Context, client *gitremote.Client, d *Desired, s *State, now Destination, result *Result) error {
	if !s.Current() {
		return nil
	}
	if p := s.Proposal; p != nil && !p.Head.Destination.Same(now) {
		if err := ClosePullRequest(ctx, client, r.Host, p); err != nil {
			return err
		}
	}
	if !d.moves(s) || d.movesWithin(s) || d.KeepOld {
		return nil
	}
	old := *s
	old.Proposal = nil
	var err error
	result.Removal, err = r.Remove(ctx, client, &old, d.removalMessage(s), d.Author)
	return err
}

// Remove has the removal of what was delivered reviewed in a pull request, and returns that. Where the destination holds
// nothing of ours there is none: what was proposed is closed.
func (r *PullRequests) Remove(ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Signature) (*hosting.PullRequest, error) {
	k := key{s.desiredEnvironment(), s.Destination.Branch, s.Destination.Path}
	name := branchName(r.BranchPrefix, k)
	if s.Proposal != nil {
		name = s.Proposal.Head.Destination.Branch
	}
	t, err := r.topic(client, name, k, s.Destination)
	if err != nil {
		return nil, err
	}
	found, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	var held Inventory
	var commit string
	removes := false
	result, err := t.branch.ForceWithLease(ctx, t.onto, gitops.UpdateOptions{}, func(_ context.Context, base, now *gitops.Snapshot) (*gitops.Edit, error) {
		at, err := readBranch(base, s.Destination, s, nil)
		if err != nil {
			return nil, err
		}
		paths, err := pathsToRemove(s, at)
		if removes = len(paths) > 0; err != nil || !removes {
			return nil, err
		}
		ours, err := readReviewBranch(now, t.at, t.key)
		if err != nil {
			return nil, err
		}
		held, commit = at.Folders.only(at.listed()), ours.Head
		if err := ours.mayRebuild(t.at, s, found, false); err != nil {
			return nil, err
		}
		if ours.trailer && ours.Record == nil && ours.onTopOf(at.Head) { // it removes all of it already
			return nil, nil
		}
		return &gitops.Edit{Remove: paths, Message: withTrailer(message, k.trailer("", nil)), Author: author}, nil
	})
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound), err == nil && !removes:
		return nil, r.end(ctx, client, t, s, found)
	case err != nil:
		return nil, err
	case result.Pushed:
		commit = result.Commit.String()
	}
	text := DescribeRemoval(s.Destination, k.environment, held, Review{Max: t.repo.MaxBody()})
	return r.publish(ctx, t, found, r.proposal(t, message, text, false), commit, s.autoMerge())
}

// end closes what was proposed and never came to its target.
func (r *PullRequests) end(ctx context.Context, client *gitremote.Client, t *topic, s *State, found *hosting.PullRequest) error {
	if found != nil && found.State == hosting.Open {
		if _, err := t.repo.Close(ctx, found.Number); err != nil {
			return err
		}
	}
	if s == nil || s.Proposal == nil || !s.Proposal.Head.Destination.Same(t.at) { // of an apply that was killed
		commit, _, err := t.at.ownCommit(ctx, client, t.key)
		if err != nil || commit == "" {
			return err
		}
		return t.branch.Delete(ctx, plumbing.NewHash(commit))
	}
	p := *s.Proposal
	if found != nil && found.Number == p.Number {
		p.State = hosting.Closed
	}
	return ClosePullRequest(ctx, client, r.Host, &p)
}
