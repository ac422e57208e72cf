package pullrequest

import (
	"context"
	"errors"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// ReadRequested reads a pull request of ours for which we requested auto-merge, unless requested is "". If the host
// shows no auto-merge, it may be in a merge queue: that is then read too.
func (t *Topic) ReadRequested(
	ctx context.Context, number int, requested githost.MergeMethod,
) (*githost.PullRequest, error) {
	pr, err := t.Read(ctx, number)
	if err != nil || requested == "" {
		return pr, err
	}
	return t.withQueue(ctx, pr)
}

// withQueue adds the place in a merge queue to a pull request, unless it waits for its checks before.
func (t *Topic) withQueue(ctx context.Context, pr *githost.PullRequest) (*githost.PullRequest, error) {
	queues := t.repo.Queues
	if queues == nil || pr.State != githost.Open || pr.AutoMerge != "" || pr.Draft || pr.Queue != nil {
		return pr, nil
	}
	place, err := queues.ReadQueue(ctx, *pr)
	if err != nil {
		return pr, err
	}
	now := *pr
	now.Queue = place
	return &now, nil
}

// dequeue takes a pull request out of the merge queue if we put it in.
func (t *Topic) dequeue(ctx context.Context, pr *githost.PullRequest) (*githost.PullRequest, error) {
	if pr.Queue == nil || !pr.Queue.OwnEntry {
		return pr, nil
	}
	if err := t.repo.Queues.Dequeue(ctx, *pr); err != nil {
		return pr, err
	}
	now := *pr
	now.Queue = nil
	return &now, nil
}

// errQueuedByPeople is the reason why a queued pull request does not become a draft.
var errQueuedByPeople = errors.New("people put it into the merge queue, and a draft would leave the queue")
