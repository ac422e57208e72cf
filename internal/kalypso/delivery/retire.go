package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// Retire closes the pull request of a proposal that nobody waits for any more, and takes our branch away, unless others
// pushed to it.
func Retire(ctx context.Context, client *gitremote.Client, host hosting.Host, p *Proposal) error {
	repo, err := host.Repo(p.Head.Place.Repo)
	if err != nil {
		return err
	}
	if p.Open() && p.Number != 0 {
		if _, err := repo.Close(ctx, p.Number); err != nil {
			return err
		}
	}
	branch, err := gitops.Open(client, p.Head.Place.Repo, p.Head.Place.Branch)
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

// leave cleans up what the order's rendering had elsewhere before: its proposal, and what was delivered to another branch,
// which a pull request of its own removes.
func (r *PullRequests) leave(ctx context.Context, client *gitremote.Client, o *Order, now Place, receipt *Receipt) error {
	if !o.Before.Current() {
		return nil
	}
	if p := o.Before.Proposal; p != nil && !p.Head.Place.Same(now) {
		if err := Retire(ctx, client, r.Host, p); err != nil {
			return err
		}
	}
	if !o.moves() || o.Place.SameBranch(o.Before.Place) {
		return nil
	}
	old := *o.Before
	old.Proposal = nil
	var err error
	receipt.Removal, err = r.Withdraw(ctx, client, &old, fmt.Sprintf("Move the rendering of environment %s away", old.Environment), o.Author)
	return err
}

// Withdraw has the removal of what was delivered reviewed in a pull request, and returns that. Where the place holds
// nothing of ours there is none: what was proposed is closed.
func (r *PullRequests) Withdraw(ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Signature) (*hosting.PullRequest, error) {
	k := key{s.Aim(), s.Place.Branch, s.Place.Path}
	name := branchName(r.BranchPrefix, k)
	if s.Proposal != nil {
		name = s.Proposal.Head.Place.Branch
	}
	t, err := r.topic(client, name, k, s.Place)
	if err != nil {
		return nil, err
	}
	found, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	var held Footprint
	var commit plumbing.Hash
	removes := false
	result, err := t.branch.Rebuild(ctx, t.onto, gitops.UpdateOptions{}, func(_ context.Context, base, now *gitops.Snapshot) (*gitops.Edit, error) {
		at, err := newSurvey(base, s.Place, s)
		if err != nil {
			return nil, err
		}
		paths, err := withdrawal(at, s)
		if removes = len(paths) > 0; err != nil || !removes {
			return nil, err
		}
		if held, err = at.footprint(at.listed()); err != nil {
			return nil, err
		}
		commit = now.Commit
		kept, err := t.withdraws(base, now, s, found)
		if err != nil || kept {
			return nil, err
		}
		return &gitops.Edit{Remove: paths, Message: withSeal(message, k.seal("", nil)), Author: author}, nil
	})
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound), err == nil && !removes:
		return nil, t.end(ctx, client, r.Host, s, found)
	case err != nil:
		return nil, err
	case result.Pushed:
		commit = result.Commit
	}
	text := DescribeRemoval(&State{Place: s.Place, Environment: k.environment, Seen: held}, Review{Max: t.repo.MaxBody()})
	return r.publish(ctx, t.repo, found, r.proposal(t.repo, t.place.Branch, t.target, message, text, k.marker(), false), k.marker(), commit.String(), s.autoMerge())
}

// withdraws reports whether our branch holds the removal already, on top of the target's head.
func (t *topic) withdraws(base, now *gitops.Snapshot, s *State, found *hosting.PullRequest) (bool, error) {
	if now.Commit.IsZero() {
		return false, nil
	}
	at, err := newSurvey(now, t.place, nil)
	if err != nil {
		return false, err
	}
	if err := t.own(at, s, found, false); err != nil {
		return false, err
	}
	sealed, err := at.sealed(t.key)
	if err != nil {
		return false, err
	}
	_, parents, err := now.Last()
	return sealed && at.record == nil && len(parents) == 1 && parents[0] == base.Commit, err
}

// end closes what was proposed and never came to its target.
func (t *topic) end(ctx context.Context, client *gitremote.Client, host hosting.Host, s *State, found *hosting.PullRequest) error {
	if found != nil && found.State == hosting.Open {
		if _, err := t.repo.Close(ctx, found.Number); err != nil {
			return err
		}
	}
	if s == nil || s.Proposal == nil || !s.Proposal.Head.Place.Same(t.place) { // of an apply that was killed
		commit, _, err := t.place.seal(ctx, client, t.key)
		if err != nil || commit == "" {
			return err
		}
		return t.branch.Delete(ctx, plumbing.NewHash(commit))
	}
	p := *s.Proposal
	if found != nil && found.Number == p.Number {
		p.State = hosting.Closed
	}
	return Retire(ctx, client, host, &p)
}
