package remote

import (
	"context"
	"errors"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// ClosePullRequests closes all pull requests of a rendering that is no longer delivered by pull request.
func (r *pullRequests) ClosePullRequests(ctx context.Context, s *delivery.State) error {
	if s.Proposal != nil {
		if err := r.closeProposal(ctx, s); err != nil {
			return err
		}
	}
	return r.closeRemovals(ctx, s.OldLocations)
}

// closeProposal closes the pull request in the state, and deletes our branch, unless it has foreign commits. If the
// pull request was merged meanwhile, the error is [pullrequest.ErrChanged].
func (r *pullRequests) closeProposal(ctx context.Context, s *delivery.State) error {
	t, err := r.proposalTopic(s)
	if err != nil {
		return err
	}
	return t.Close(ctx, nil, known(s, t))
}

func (r *pullRequests) closeRemovals(ctx context.Context, places []*delivery.OldLocation) error {
	for _, old := range places {
		if err := r.closeRemoval(ctx, old.State.Destination, old.State.Environment); err != nil {
			return err
		}
	}
	return nil
}

// closeRemoval closes the open pull request that removes the rendering of an environment from a destination, if there
// is one.
func (r *pullRequests) closeRemoval(ctx context.Context, at destination.Destination, environment string) error {
	t, err := r.removalTopic(at, environment)
	if err != nil {
		return err
	}
	found, err := t.FindOpen(ctx)
	if err != nil || found == nil {
		return err
	}
	if err := t.Close(ctx, found, nil); !errors.Is(err, pullrequest.ErrChanged) {
		return err
	}
	return nil
}

// Destroy closes the open pull request, and opens pull requests that remove the trees from the destination and from
// previous locations. It returns them, and the state to keep if it fails.
func (r *pullRequests) Destroy(ctx context.Context, s *delivery.State) (*delivery.State, []Removal, error) {
	t, err := r.proposalTopic(s)
	if err != nil {
		return s, nil, err
	}
	found, err := t.Find(ctx, known(s, t))
	if err != nil {
		return s, nil, err
	}
	// If the pull request was merged meanwhile, its tree is removed like any delivered tree.
	if err := t.Close(ctx, found, known(s, t)); err != nil && !errors.Is(err, pullrequest.ErrChanged) {
		return s, nil, err
	}
	now := *s
	if now.Proposal != nil {
		closed := *now.Proposal
		closed.State = githost.Closed
		now.Proposal = &closed
	}
	now.OldLocations = nil
	var all []Removal
	for _, old := range delivery.OldLocations(r.args, s) {
		next := *old
		if err == nil {
			next.Number, err = r.removeAll(ctx, old.State, &all)
		}
		now.OldLocations = append(now.OldLocations, &next)
	}
	if err != nil {
		return &now, all, err
	}
	number, err := r.removeAll(ctx, s, &all)
	if _, open := errors.AsType[*pullrequest.ReviewError](err); open { // the next run checks whether it was merged
		now.Removal = number
	}
	return &now, all, err
}

// removeAll opens a pull request that removes the tree from a destination. It returns its number, or 0 if there is
// nothing to remove.
func (r *pullRequests) removeAll(ctx context.Context, s *delivery.State, all *[]Removal) (int, error) {
	pr, err := r.Remove(ctx, s, removalMessage(s))
	if pr == nil {
		return 0, err
	}
	*all = append(*all, Removal{s.Destination, pr})
	return pr.Number, err
}

// Remove opens a pull request that removes the delivered tree, and returns it. People have to merge it, even with
// auto-merge. It returns nil if the destination contains nothing of ours.
func (r *pullRequests) Remove(ctx context.Context, s *delivery.State, message string) (*githost.PullRequest, error) {
	t, err := r.removalTopic(s.Destination, s.Environment)
	if err != nil {
		return nil, err
	}
	t.Settings.AutoMerge, t.Settings.Reopen = "", true
	outcome, err := t.Run(ctx, nil, &removalChange{args: r.args, topic: t, state: s, message: message})
	if outcome == nil {
		return nil, err
	}
	return outcome.PullRequest, err
}

// removalChange is the removal of a rendering that a pull request proposes. It implements [pullrequest.Change].
type removalChange struct {
	args    *delivery.Arguments
	topic   *pullrequest.Topic
	state   *delivery.State // with the destination to remove from
	message string

	// The last comparison set these.
	paths    []string // to remove
	existing inventory.Folders
}

// Begin implements [pullrequest.Change].
func (c *removalChange) Begin(context.Context, *githost.PullRequest) (gitbranch.PushOptions, error) {
	return gitbranch.PushOptions{}, nil
}

// Compare implements [pullrequest.Change]. A target that does not exist needs no removal.
func (c *removalChange) Compare(
	ctx context.Context, target, ours *gitbranch.Snapshot,
) (pullrequest.Comparison, error) {
	compared := pullrequest.Comparison{Discard: true, Contents: contents("", nil)}
	at, err := readBranch(target, c.state.Destination, c.state, nil)
	if err != nil {
		return compared, err
	}
	c.paths, err = delivery.PathsToRemove(c.state, at)
	if err != nil || len(c.paths) == 0 {
		return compared, err
	}
	own, err := readBranch(ours, destinationOf(c.topic), nil, nil)
	if err != nil {
		return compared, err
	}
	c.existing = at.Folders.Only(at.RecordedFolders())
	compared.OwnBranch, err = c.topic.OwnBranch.ReadAlone(ctx, ours, contentsOf(own), "", at.Head)
	compared.Needed, compared.Existing = true, compared.OwnBranch.Unchanged && own.Record == nil
	return compared, err
}

// Commit implements [pullrequest.Change].
func (c *removalChange) Commit() *gitbranch.Edit {
	return &gitbranch.Edit{Remove: c.paths, Message: c.message, NoTrailers: true, Author: c.args.Author}
}

// Pushed implements [pullrequest.Change].
func (c *removalChange) Pushed(context.Context) error { return nil }

// Text implements [pullrequest.Change].
func (c *removalChange) Text(context.Context) pullrequest.Text {
	reached := c.args.Owners.Reached(c.existing.ChangesTo(nil), c.state.Inputs.Workspace)
	reviewers, _ := owners.Asked(c.args.PullRequest.Reviewers, reached)
	review := delivery.Review{Max: c.topic.Host().MaxBody}
	body := describe.Removal(c.state.Destination, c.state.Environment, c.existing, reached, review)
	return pullrequest.Text{Message: c.message, Body: body, Reviewers: reviewers}
}
