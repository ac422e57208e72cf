package delivery

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// ClosePullRequests closes all pull requests of a rendering that is no longer delivered by pull request.
func (r *PullRequests) ClosePullRequests(ctx context.Context, client *gitremote.Client, s *State) error {
	if s.Proposal != nil {
		if err := r.closeProposal(ctx, client, s.Proposal); err != nil {
			return err
		}
	}
	return r.closeRemovals(ctx, client, s.OldLocations)
}

func (r *PullRequests) closeRemovals(ctx context.Context, client *gitremote.Client, places []*OldLocation) error {
	for _, old := range places {
		if err := r.closeRemoval(ctx, client, old.State.Destination, old.State.Environment); err != nil {
			return err
		}
	}
	return nil
}

// closeProposal closes the pull request of a proposal. It deletes our branch, unless others pushed to it. If the pull
// request was merged meanwhile, the error is [errChanged].
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

// closeTopic closes a pull request that was not merged, and deletes its branch.
func (r *PullRequests) closeTopic(
	ctx context.Context, client *gitremote.Client, t *topic, s *State, found *hosting.PullRequest,
) error {
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
		commit, _, err := ownCommit(ctx, client, t.at, t.key)
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

// Destroy closes the open pull request, and opens pull requests that remove what was delivered to the destination and
// to old locations. It returns them, and the state to keep if it fails.
func (r *PullRequests) Destroy(
	ctx context.Context, client *gitremote.Client, d *Desired, s *State,
) (*State, []Removal, error) {
	k := key{s.desiredEnvironment(), s.Destination.Branch, s.Destination.Path}
	name := branchName(r.BranchPrefix, k)
	if s.Proposal != nil {
		name = s.Proposal.Head.Destination.Branch
	}
	t, err := r.topic(client, name, k.marker(), k, s.Destination)
	if err != nil {
		return s, nil, err
	}
	found, err := t.find(ctx, s.proposed())
	if err != nil {
		return s, nil, err
	}
	// If it was merged meanwhile, it is removed like everything else that was delivered.
	if err := r.closeTopic(ctx, client, t, s, found); err != nil && !errors.Is(err, errChanged) {
		return s, nil, err
	}
	now := *s
	if now.Proposal != nil {
		closed := *now.Proposal
		closed.State = hosting.Closed
		now.Proposal = &closed
	}
	now.OldLocations = nil
	var all []Removal
	for _, old := range d.oldLocations(s) {
		next := *old
		if err == nil {
			next.Number, err = r.removeAll(ctx, client, old.State, d, &all)
		}
		now.OldLocations = append(now.OldLocations, &next)
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

// removeAll opens a pull request that removes what was delivered to a destination. It returns its number, or 0 if
// there is nothing to remove.
func (r *PullRequests) removeAll(
	ctx context.Context, client *gitremote.Client, s *State, d *Desired, all *[]Removal,
) (int, error) {
	pr, err := r.Remove(ctx, client, s, removalMessage(s), d.Author)
	if pr == nil {
		return 0, err
	}
	*all = append(*all, Removal{s.Destination, pr})
	return pr.Number, err
}

// Remove opens a pull request that removes what was delivered, and returns it. People have to merge it, even with
// auto-merge. It returns nil if the destination holds nothing of ours.
func (r *PullRequests) Remove(
	ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Signature,
) (*hosting.PullRequest, error) {
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
	found, err := t.find(ctx, 0)
	if err != nil {
		return nil, err
	}
	var held Inventory
	var commit string
	removes := false
	edit := func(_ context.Context, base, now *gitops.Snapshot) (*gitops.Edit, error) {
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
		held, commit = at.Folders.only(at.recordedFolders()), ours.Head
		if err := ours.checkPush(t.at, nil, found); err != nil {
			return nil, err
		}
		if ours.trailer && ours.Record == nil && ours.onTopOf(at.Head) { // the branch already removes everything
			return nil, nil
		}
		return &gitops.Edit{Remove: paths, Message: withTrailer(message, t.key.trailer("", nil)), Author: author}, nil
	}
	result, err := t.branch.ForceWithLease(ctx, t.onto, gitops.UpdateOptions{}, edit)
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound), err == nil && !removes:
		return nil, r.closeTopic(ctx, client, t, nil, found)
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

// closeRemoval closes the open pull request that removes the rendering of an environment from a destination, if there
// is one.
func (r *PullRequests) closeRemoval(
	ctx context.Context, client *gitremote.Client, at record.Destination, environment string,
) error {
	t, err := r.removalTopic(client, at, environment)
	if err != nil {
		return err
	}
	found, err := t.repo.Find(ctx, hosting.Query{Branch: t.at.Branch, Target: t.target, Marker: t.marker, Open: true})
	if err != nil || found == nil {
		return err
	}
	if err := r.closeTopic(ctx, client, t, nil, found); !errors.Is(err, errChanged) {
		return err
	}
	return nil
}
