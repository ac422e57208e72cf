package gitops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// ErrPushLost means that the server reported a push as done, and the branch does not hold it.
var ErrPushLost = errors.New("the server reported the push as done, and the branch does not hold it")

// confirmTimeout bounds the look at a branch after the time of a push is over.
const confirmTimeout = 20 * time.Second

// looks is how often a branch is read after a push before the push counts as not done: a server may still run its
// hooks after the connection broke, or read from a copy that lags behind.
const looks = 4

// outcome is a push that was sent, with what the server said about it.
type outcome struct {
	old, pushed plumbing.Hash // pushed is zero where the branch was to be deleted
	err         error         // nil: the server reported it as done
	open        gitremote.Reader
	wait        func(ctx context.Context, try int) error
}

// confirm reads what became of a push: what the branch holds decides, whatever the server said. It returns nil
// where the branch holds the commit, the push's error or [ErrPushLost] where it does not, and
// [gitremote.ErrBranchMoved] where somebody else moved the branch.
func (b *Branch) confirm(ctx context.Context, push outcome) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
		defer cancel()
		push.open = nil // it ended with the context
	}
	head, err := b.headAfter(ctx, push)
	switch {
	case err != nil:
		return push.err // what the server said is all there is
	case head == push.pushed:
		return nil
	case head == push.old && push.err != nil:
		return push.err
	case head == push.old:
		return fmt.Errorf("%s is still at %s: %w", b, shownHead(head), ErrPushLost)
	}
	held, err := b.holds(ctx, head, push.pushed)
	switch {
	case held, err != nil && push.err == nil:
		return nil
	case push.err == nil:
		return fmt.Errorf("%s is at %s, whose history does not hold %s: %w",
			b, shownHead(head), shownHead(push.pushed), ErrPushLost)
	}
	return fmt.Errorf("%w: %w", gitremote.ErrBranchMoved, push.err)
}

// headAfter looks up the branch until it has moved, as often as that may take.
func (b *Branch) headAfter(ctx context.Context, push outcome) (plumbing.Hash, error) {
	for look := 1; ; look++ {
		head, err := b.headNow(ctx, push.open)
		final := push.err != nil && !errors.Is(push.err, gitremote.ErrUnreachable)
		if err != nil || head != push.old || final || look == looks {
			return head, err
		}
		if err := push.wait(ctx, look+looks); err != nil {
			return head, err
		}
	}
}

// headNow looks up the branch, in a conversation that is open, if there is one.
func (b *Branch) headNow(ctx context.Context, open gitremote.Reader) (plumbing.Hash, error) {
	if open == nil {
		return b.Head(ctx)
	}
	return open.CurrentRef(b.ref)
}

// holds tells whether a commit is among the last ones of a history, along all parents: somebody may have pushed on
// top of it.
func (b *Branch) holds(ctx context.Context, head, commit plumbing.Hash) (bool, error) {
	if head.IsZero() || commit.IsZero() {
		return false, nil
	}
	last := gitremote.Objects{}
	want := gitremote.FetchRequest{Wants: []plumbing.Hash{head}, Depth: MaxHistory, Filter: filterAll}
	err := b.remote.Fetch(ctx, want, last)
	_, held := last[commit]
	return held, err
}

func shownHead(h plumbing.Hash) string {
	if h.IsZero() {
		return "no commit"
	}
	return h.String()
}
