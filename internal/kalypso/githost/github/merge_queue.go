package github

import (
	"context"
	"errors"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

var _ githost.MergeQueues = (*pullRequests)(nil)

// The REST API has no merge queues.
const queryQueue = `query($id: ID!) {
  node(id: $id) { ... on PullRequest { isMergeQueueEnabled mergeQueueEntry { enqueuer { login } } } }
  viewer { login }
}`

// readQueue returns the place of a pull request in the merge queue of its target, and whether the target has one. It
// reports no queue on an older server, which has none, and for a credential that may not read queues.
func (r *pullRequests) readQueue(
	ctx context.Context, now githost.PullRequest,
) (place *githost.QueuePlace, enabled bool, err error) {
	type actor struct{ Login string }
	var answer struct {
		Viewer actor
		Node   struct {
			IsMergeQueueEnabled bool
			MergeQueueEntry     *struct{ Enqueuer actor }
		}
	}
	err = r.query(r.pulls(ctx), queryQueue, variables{"id": now.ID}, &answer)
	switch {
	case errors.Is(err, githost.ErrForbidden), githost.Says(err, saysNoField):
		return nil, false, nil
	case err != nil:
		return nil, false, r.server.Error(r.traits.Op("read the merge queue of", now.Number), err)
	case answer.Node.MergeQueueEntry != nil: // the login of an app has a suffix as viewer, but not as actor
		login := func(a actor) string { return strings.TrimSuffix(a.Login, "[bot]") }
		place = &githost.QueuePlace{
			OwnEntry: strings.EqualFold(login(answer.Node.MergeQueueEntry.Enqueuer), login(answer.Viewer)),
		}
	}
	return place, answer.Node.IsMergeQueueEnabled, nil
}

// ReadQueue implements [githost.MergeQueues].
func (r *pullRequests) ReadQueue(ctx context.Context, now githost.PullRequest) (*githost.QueuePlace, error) {
	place, _, err := r.readQueue(ctx, now)
	return place, err
}

// Dequeue implements [githost.MergeQueues].
func (r *pullRequests) Dequeue(ctx context.Context, now githost.PullRequest) error {
	op := r.traits.Op("take out of the merge queue", now.Number)
	return githost.About(githost.FieldAutoMerge,
		r.mutate(r.pulls(ctx), op, "DequeuePullRequest", variables{"id": now.ID}))
}

// mergeNow merges a pull request for which GitHub refused auto-merge, because no check is pending. If the target has a
// merge queue, mergeNow puts the pull request into the queue instead. It returns the pull request afterwards, or the
// refusal.
func (r *pullRequests) mergeNow(
	ctx context.Context, now githost.PullRequest, method githost.MergeMethod, refusal error,
) (*githost.PullRequest, error) {
	if !errors.Is(refusal, githost.ErrRejected) {
		return nil, refusal
	}
	place, enabled, err := r.readQueue(ctx, now)
	switch {
	case err != nil:
		return nil, err
	case place != nil: // people put it into the queue
	case !githost.Says(refusal, saysMergeable):
		return nil, refusal
	case !enabled:
		if err = r.merge(ctx, now, method); err != nil {
			return nil, err
		}
		return r.Read(ctx, now.Number)
	default:
		place = &githost.QueuePlace{OwnEntry: true}
		err = r.mutate(ctx, r.traits.Op("put into the merge queue", now.Number), "EnqueuePullRequest",
			variables{"pullRequestId": now.ID, "expectedHeadOid": now.HeadCommit})
	}
	now.Queue = place
	return &now, err
}
