package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// ErrPushLost means that the server reported a push as successful, but the branch does not contain it.
var ErrPushLost = errors.New("the server reported the push as successful, but the branch does not contain it")

// confirmTimeout bounds the check of a branch after the context of a push has ended.
const confirmTimeout = 20 * time.Second

// confirmReads limits how often a branch is read after a push before the push counts as failed. The server may still
// run hooks after the connection broke, or read from a replica that lags behind.
const confirmReads = 4

// sentPush is a push that was sent, with the server's answer.
type sentPush struct {
	old, pushed plumbing.Hash     // pushed is zero for a deletion
	err         error             // nil: the server reported success
	open        *gitremote.Reader // nil: none
	backoff     func(ctx context.Context, attempt int) error
}

// confirm checks the result of a push by reading the branch, because the server's answer may be wrong or lost. confirm
// returns nil if the branch contains the commit, the push's error or [ErrPushLost] if it does not, and
// [gitremote.ErrBranchMoved] if another push moved the branch.
func (b *Branch) confirm(ctx context.Context, push sentPush) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
		defer cancel()
		push.open = nil // closed with the context
	}
	head, err := b.awaitHead(ctx, push)
	switch {
	case err != nil:
		return b.interrupted(push.err, true) // nothing else is known
	case head == push.pushed:
		return nil
	case head == push.old && push.err != nil:
		return b.interrupted(push.err, !b.remote.IsLocal()) // a local program has ended once the push fails
	case head == push.old:
		return fmt.Errorf("%s is still at %s: %w", b, formatHead(head), ErrPushLost)
	}
	existing, err := b.historyContains(ctx, head, push.pushed)
	switch {
	case existing, err != nil && push.err == nil:
		return nil
	case push.err == nil:
		return fmt.Errorf("%s is at %s, whose history does not contain %s: %w",
			b, formatHead(head), formatHead(push.pushed), ErrPushLost)
	}
	return fmt.Errorf("%w: %w", gitremote.ErrBranchMoved, push.err)
}

// awaitHead reads the head of the branch until it has moved, at most [confirmReads] times, over the open connection if
// there is one.
func (b *Branch) awaitHead(ctx context.Context, push sentPush) (plumbing.Hash, error) {
	look := func() (plumbing.Hash, error) { return b.Head(ctx) }
	if push.open != nil {
		look = func() (plumbing.Hash, error) { return push.open.CurrentRef(b.ref) }
	}
	for read := 1; ; read++ {
		head, err := look()
		final := push.err != nil && !errors.Is(push.err, gitremote.ErrUnreachable)
		if err != nil || head != push.old || final || read == confirmReads {
			return head, err
		}
		if err := push.backoff(ctx, read+confirmReads); err != nil {
			return head, err
		}
	}
}

// historyContains reports whether a commit is among the latest commits of a history, along all parents: another push
// may be on top of it.
func (b *Branch) historyContains(ctx context.Context, head, commit plumbing.Hash) (bool, error) {
	if head.IsZero() || commit.IsZero() {
		return false, nil
	}
	last := gitremote.Objects{}
	want := gitremote.FetchRequest{Wants: []plumbing.Hash{head}, Depth: MaxHistory, Filter: filterAll}
	r := b.reader(ctx)
	defer r.Close()
	err := r.Fetch(want, last)
	_, existing := last[commit]
	return existing, err
}

func formatHead(h plumbing.Hash) string {
	if h.IsZero() {
		return "no commit"
	}
	return h.String()
}
