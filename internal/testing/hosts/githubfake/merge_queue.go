package githubfake

import (
	"fmt"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// enqueue puts a pull request into the merge queue, or returns the type of an error and its message.
func (p *pull) enqueue(login, head string) (kind, message string) {
	const unprocessable = "UNPROCESSABLE"
	switch waiting := p.waitsFor(); {
	case !p.repo.queues[p.Base]:
		return unprocessable, "The base branch has no merge queue"
	case p.State != hostfake.Open || p.Draft:
		return unprocessable, "Pull request is not mergeable"
	case head != "" && head != p.HeadCommit:
		return unprocessable, "Head branch was modified. Review and try the merge again."
	case p.QueuedBy != "":
		return unprocessable, "Pull request is already in the merge queue"
	case waiting != "":
		return unprocessable, fmt.Sprintf("Required status check %q is expected.", waiting)
	}
	p.AutoMerge, p.QueuedBy = "", login
	return "", ""
}

// showQueue returns the fields of a pull request about the merge queue.
func (p *pull) showQueue() object {
	o := object{"__typename": "PullRequest", "isMergeQueueEnabled": p.repo.queues[p.Base],
		"isInMergeQueue": p.QueuedBy != "", "mergeQueueEntry": nil}
	if p.QueuedBy != "" {
		o["mergeQueueEntry"] = object{"enqueuer": object{"login": p.QueuedBy}, "position": 1, "state": "AWAITING_CHECKS"}
	}
	return o
}

// MergeQueues are the merge queues of a repo, as people use them.
type MergeQueues struct{ repo *Repo }

// Use gives a branch a merge queue.
func (q MergeQueues) Use(branch string) {
	q.repo.Server.Locked(func() { q.repo.queues[branch] = true })
}

// Put puts a pull request into the merge queue as a user does.
func (q MergeQueues) Put(t testing.TB, number int, user string) {
	t.Helper()
	q.repo.With(t, number, func(p *pull) {
		if _, problem := p.enqueue(user, ""); problem != "" {
			t.Fatal(problem)
		}
	})
}

// TakeOut takes a pull request out of the merge queue, as people do, or GitHub after a failed check of the queue.
func (q MergeQueues) TakeOut(t testing.TB, number int) {
	t.Helper()
	q.repo.With(t, number, func(p *pull) { p.QueuedBy = "" })
}

// Merge merges a pull request that is in the merge queue.
func (q MergeQueues) Merge(t testing.TB, number int) {
	t.Helper()
	q.repo.With(t, number, func(p *pull) {
		if p.QueuedBy == "" {
			t.Fatalf("pull request %d is not in the merge queue", number)
		}
	})
	q.repo.Merge(t, number, "merge")
}
