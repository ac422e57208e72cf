package delivery

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// ClosePullRequests closes all pull requests of a rendering that nobody waits for any more.
func (r *PullRequests) ClosePullRequests(ctx context.Context, client *gitremote.Client, s *State) error {
	if s.Proposal != nil {
		if err := r.closeProposal(ctx, client, s.Proposal); err != nil {
			return err
		}
	}
	return r.closeRemovals(ctx, client, s.OldPlaces)
}

func (r *PullRequests) closeRemovals(ctx context.Context, client *gitremote.Client, places []*OldPlace) error {
	for _, old := range places {
		if err := r.closeRemoval(ctx, client, old.State.Destination, old.State.Environment); err != nil {
			return err
		}
	}
	return nil
}

// closeProposal closes the pull request of a proposal, and deletes our branch, unless others pushed to it. One that was merged
// meanwhile is [errChanged].
func (r *PullRequests) closeProposal(ctx context.Context, client *gitremote.Client, p *Proposal) error {
	repo, err := r.Host.Repo(p.Head.Destination.Repo)
	if err != nil {
		return err
	}
	if p.Open() && p.Number != 0 {
		closed, err := repo.Close(ctx, p.Number)
		if err != nil {
			return err
		}
		if closed.State == hosting.Merged {
			return errChanged
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

// end closes what was proposed and never came to its target.
func (r *PullRequests) end(ctx context.Context, client *gitremote.Client, t *topic, s *State, found *hosting.PullRequest) error {
	if found != nil && found.State == hosting.Open {
		closed, err := t.repo.Close(ctx, found.Number)
		if err != nil {
			return err
		}
		if closed.State == hosting.Merged {
			return errChanged
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
	return r.closeProposal(ctx, client, &p)
}

// Destroy closes what is proposed, and has the removal of what was delivered reviewed, here and at the old places. It returns
// the pull requests that remove something, and the state to keep if it failed.
func (r *PullRequests) Destroy(ctx context.Context, client *gitremote.Client, d *Desired, s *State) (*State, []Removal, error) {
	k := key{s.desiredEnvironment(), s.Destination.Branch, s.Destination.Path}
	name := branchName(r.BranchPrefix, k)
	if s.Proposal != nil {
		name = s.Proposal.Head.Destination.Branch
	}
	t, err := r.topic(client, name, k.marker(), k, s.Destination)
	if err != nil {
		return s, nil, err
	}
	found, err := t.find(ctx, s)
	if err != nil {
		return s, nil, err
	}
	// What is merged first is removed like anything else that was delivered.
	if err := r.end(ctx, client, t, s, found); err != nil && !errors.Is(err, errChanged) {
		return s, nil, err
	}
	now := *s
	if now.Proposal != nil {
		closed := *now.Proposal
		closed.State = hosting.Closed
		now.Proposal = &closed
	}
	now.OldPlaces = nil
	var all []Removal
	for _, old := range d.oldPlaces(s) {
		next := *old
		if err == nil {
			next.Number, err = r.removeAll(ctx, client, old.State, d, &all)
		}
		now.OldPlaces = append(now.OldPlaces, &next)
	}
	if err != nil {
		return &now, all, err
	}
	number, err := r.removeAll(ctx, client, s, d, &all)
	var review *ReviewError
	if errors.As(err, &review) { // the next run finds it merged
		now.Removal = number
	}
	return &now, all, err
}

// removeAll has the removal of all that was delivered to a destination reviewed, and returns the number of the pull request; 0
// where there is none.
func (r *PullRequests) removeAll(ctx context.Context, client *gitremote.Client, s *State, d *Desired, all *[]Removal) (int, error) {
	pr, err := r.Remove(ctx, client, s, "Remove the rendering of environment "+s.Environment, d.Author)
	if pr == nil {
		return 0, err
	}
	*all = append(*all, Removal{s.Destination, pr})
	return pr.Number, err
}

// Remove has the removal of what was delivered reviewed in a pull request of its own, and returns that. It waits for people,
// whoever merges the others. Where the destination holds nothing of ours there is none.
func (r *PullRequests) Remove(ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Signature) (*hosting.PullRequest, error) {
	t, err := r.removalTopic(client, s.Destination, s.Environment)
	if err != nil {
		return nil, err
	}
	var pr *hosting.PullRequest
	err = r.retry(ctx, func() error {
		pr, err = r.remove(ctx, client, t, s, message, author)
		return err
	})
	return pr, err
}

func (r *PullRequests) remove(
	ctx context.Context, client *gitremote.Client, t *topic, s *State, message string, author gitops.Signature,
) (*hosting.PullRequest, error) {
	found, err := t.find(ctx, nil)
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
		ours, err := t.readOurs(ctx, now, at, "")
		if err != nil {
			return nil, err
		}
		held, commit = at.Folders.only(at.listed()), ours.Head
		if err := ours.mayRebuild(t.at, nil, found); err != nil {
			return nil, err
		}
		if ours.trailer && ours.Record == nil && ours.onTopOf(at.Head) { // it removes all of it already
			return nil, nil
		}
		return &gitops.Edit{Remove: paths, Message: withTrailer(message, t.key.trailer("", nil)), Author: author}, nil
	})
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound), err == nil && !removes:
		return nil, r.end(ctx, client, t, nil, found)
	case err != nil:
		return nil, err
	case result.Pushed:
		commit = result.Commit.String()
	}
	text := DescribeRemoval(s.Destination, s.Environment, held, Review{Max: t.repo.MaxBody()})
	byPeople := *r
	byPeople.AutoMerge = ""
	return byPeople.publish(ctx, t, found, byPeople.proposal(t, message, text, false), commit, nil)
}

// closeRemoval closes the open pull request that would remove what a destination holds of an environment, if there is one.
func (r *PullRequests) closeRemoval(ctx context.Context, client *gitremote.Client, at Destination, environment string) error {
	t, err := r.removalTopic(client, at, environment)
	if err != nil {
		return err
	}
	found, err := t.repo.Find(ctx, hosting.Query{Branch: t.at.Branch, Target: t.target, Marker: t.marker, Open: true})
	if err != nil || found == nil {
		return err
	}
	if err := r.end(ctx, client, t, nil, found); !errors.Is(err, errChanged) {
		return err
	}
	return nil
}
