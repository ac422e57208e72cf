package remote

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// pullRequests delivers changes by pull requests on a host.
type pullRequests struct {
	remote Operations
	args   *delivery.Arguments
}

func (r Operations) pullRequests(a *delivery.Arguments) *pullRequests {
	return &pullRequests{r, a}
}

// Withhold makes the open pull request of the rendering a draft that must not be merged now, and returns the state
// after it.
func (r *pullRequests) Withhold(ctx context.Context, s *delivery.State, reason string) (*Result, error) {
	t, err := r.proposalTopic(s)
	if err != nil {
		return nil, err
	}
	withheld, err := t.Withhold(ctx, known(s, t), reason)
	if err != nil {
		return nil, err
	}
	if withheld.PullRequest.State != githost.Open { // people ended it
		after, pr, err := r.remote.follow(ctx, s)
		return &Result{State: after, PullRequest: pr}, err
	}
	now, proposal := *s, *s.Proposal
	proposal.Withheld, proposal.AutoMerge, now.Proposal = reason, "", &proposal
	return &Result{State: &now, PullRequest: withheld.PullRequest, NoDraft: withheld.Warning()}, nil
}

// Check returns an error if the change can't be proposed: the repo is on another host, the host does not show it, or
// our branch or its pull request is foreign. It also returns the open pull request that the apply would continue with,
// or nil. It writes nothing.
func (r *pullRequests) Check(
	ctx context.Context, applied *delivery.NextTree, s *delivery.State,
) (*githost.PullRequest, error) {
	s = s.OrNil()
	t, err := r.renderingTopic()
	if err != nil {
		return nil, err
	}
	found, err := t.Find(ctx, known(s, t))
	if err != nil {
		return nil, err
	}
	if applied.Rendered.Tree != nil {
		ours, err := t.OwnBranch.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		defer ours.Close()
		_, compared, err := readTopic(ctx, applied, t, ours, s, "")
		if err != nil {
			return nil, err
		}
		if err := t.Check(found, compared); err != nil {
			return nil, err
		}
	}
	if found != nil && found.State != githost.Open {
		found = nil
	}
	return found, nil
}
