package gitbranch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// The stages of a push, as reported to [PushOptions.Progress].
const (
	stageRead = "read" // reading the branch's trees
	stagePack = "pack" // done counts changed folders
	stagePush = "push" // done counts sent bytes
)

// PushOptions configure [Branch.Attempts]. The zero value has the defaults.
type PushOptions struct {
	// Base is the branch of the same repository on which the commit is made; nil: the pushed branch itself. With another
	// base, the push discards all old commits, as git push --force-with-lease does. Use it only for branches of our own.
	Base *Branch
	// CreateBranch creates an absent branch with the edit as its first commit.
	CreateBranch bool
	// Progress is called during each stage. A total of 0 means unknown.
	Progress func(stage string, done, total int)
	// CachePath is the path for which the result returns a tree cache; empty: none.
	CachePath string
	// Cache is the tree cache of an earlier result.
	Cache TreeCache

	// Only tests set these; see withDefaults.
	maxAttempts int // if other pushes move the branch
	packBuffer  int // bytes of the pack that are kept in memory; the rest is packed while it is sent
	// backoff waits before another attempt; the first one is 1. It returns early if ctx is done.
	backoff func(ctx context.Context, attempt int) error
}

// PushResult is the branch after [Attempt.Push].
type PushResult struct {
	Commit plumbing.Hash // the head with the edit; zero: the branch is absent and the edit empty
	Pushed bool          // false: the branch already had the edit
	Cache  TreeCache     // of Commit, as far as it was read or written
}

// Attempt is one attempt to push a commit to a branch. Its snapshots are closed once the body of the loop ends.
type Attempt struct {
	Base *Snapshot // the commit is made on top of it
	Now  *Snapshot // the branch to move; the same as Base unless [PushOptions.Base] is set

	branch *Branch
	opts   PushOptions
	err    error // of Push
}

// Attempts reads the branch, and yields attempts to push one commit to it. The body of the loop compares the desired
// tree with [Attempt.Base] and calls [Attempt.Push]:
//
//	for attempt, err := range branch.Attempts(ctx, opts) {
//		if err != nil {
//			return err
//		}
//		edit, err := compare(attempt.Base)
//		if err != nil {
//			return attempt.Failed(err)
//		}
//		pushed, err = attempt.Push(ctx, edit)
//		if err == nil {
//			break
//		}
//	}
//
// If another push moves the branch first, or has its lock, Attempts waits and yields another attempt, which has read
// the branch again. If a push fails for good, or there were too many attempts, Attempts yields the error and ends. It
// also ends after a push that succeeded. Loops over the same branch in one process run one after another.
//
// The branch moves only from the head that the attempt read. With another base, the body must reject a branch that is
// not ours. The errors are [ErrBranchNotFound] if the base is absent, unless CreateBranch is set for the branch itself,
// [gitremote.ErrRejected] if the server rejects the push, and [gitremote.ErrBranchMoved] if other pushes keep moving
// the branch. Each push is followed by a read of the branch: if the server reported success but the branch does not
// contain the commit, the error is [ErrPushLost]. If ctx is cancelled before the branch contains the commit, it is an
// *[InterruptedError].
func (b *Branch) Attempts(ctx context.Context, opts PushOptions) iter.Seq2[*Attempt, error] {
	opts = opts.withDefaults()
	return func(yield func(*Attempt, error) bool) {
		unlock, err := lock(ctx, b.Key())
		if err != nil {
			yield(nil, b.interrupted(err, false))
			return
		}
		defer unlock()
		for n := 1; ; n++ {
			a, err := b.attempt(ctx, opts)
			if err == nil {
				next := yield(a, nil)
				a.close()
				if err = a.err; err == nil || !next {
					return
				}
			}
			if err = b.retry(ctx, opts, n, err); err != nil {
				yield(nil, b.interrupted(err, false))
				return
			}
		}
	}
}

// lockedAttempts limits how often a push to a locked branch is tried. A running push has the lock for some
// milliseconds, and Git itself waits about as long.
const lockedAttempts = 3

// retry waits before the attempt after attempt n, which failed. It returns an error if there must be no other attempt.
func (b *Branch) retry(ctx context.Context, opts PushOptions, n int, err error) error {
	locked := errors.Is(err, gitremote.ErrBranchLocked)
	switch {
	case locked && n >= min(lockedAttempts, opts.maxAttempts):
		return err
	case locked: // another running push may have the lock
	case !errors.Is(err, gitremote.ErrBranchMoved):
		return err
	case n >= opts.maxAttempts:
		return fmt.Errorf("%s kept moving during %d attempts: %w", b, n, err)
	}
	return opts.backoff(ctx, n)
}

func (o PushOptions) withDefaults() PushOptions {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if o.maxAttempts == 0 {
		o.maxAttempts = 10
	}
	if o.packBuffer == 0 {
		o.packBuffer = 16 << 20
	}
	if o.backoff == nil {
		o.backoff = backoff
	}
	return o
}

// backoff waits a random time, so that competing processes spread out.
func backoff(ctx context.Context, attempt int) error {
	longest := clock.Backoff(200*time.Millisecond, 3*time.Second, attempt)
	return clock.Sleep(ctx, longest/4+rand.N(longest*3/4))
}

// attempt reads the branch, and its base if that is another branch.
func (b *Branch) attempt(ctx context.Context, opts PushOptions) (*Attempt, error) {
	opts.Progress(stageRead, 0, 0)
	base, err := cmp.Or(opts.Base, b).open(ctx, opts.Cache)
	if err != nil {
		return nil, err
	}
	a := &Attempt{Base: base, Now: base, branch: b, opts: opts}
	if opts.Base == nil {
		return a, nil
	}
	a.Now, err = b.Snapshot(ctx)
	if err != nil {
		base.Close()
		return nil, err
	}
	return a, nil
}

func (a *Attempt) close() {
	a.Base.Close()
	if a.Now != a.Base {
		a.Now.Close()
	}
}

// Failed returns an error of the loop's body before a push. If ctx was cancelled, it is an *[InterruptedError].
func (a *Attempt) Failed(err error) error { return a.branch.interrupted(err, false) }

// Push moves the branch to one commit on top of the base. If the edit is nil or changes nothing in the base, the branch
// stays. After an error, the body goes on with the loop, which either yields another attempt or the error to return:
// see [Branch.Attempts].
func (a *Attempt) Push(ctx context.Context, edit *Edit) (result PushResult, err error) {
	defer func() { a.err = err }()
	onto, b := a.Base, a.branch
	if edit == nil {
		return a.opts.result(a.Now, false), nil
	}
	if onto.Commit.IsZero() && (!a.opts.CreateBranch || a.opts.Base != nil) {
		return PushResult{}, fmt.Errorf("%s: %w", cmp.Or(a.opts.Base, b), ErrBranchNotFound)
	}
	open, done := b.startPush(ctx)
	defer done()
	after, p, err := commitBuilder{onto: onto, edit: edit}.build(ctx, a.opts)
	if err != nil {
		return PushResult{}, err
	}
	if after == onto {
		return a.opts.result(onto, false), nil
	}
	w, err := open()
	if err != nil {
		return PushResult{}, err
	}
	old := a.Now.Commit
	pack := p.stream(ctx, func(sent int) { a.opts.Progress(stagePush, sent, 0) })
	err = w.Push(gitremote.PushRequest{Branch: b.ref, Old: old, New: after.Commit, Pack: pack, Size: pack.size})
	if failed := pack.stop(); failed != nil {
		return PushResult{}, failed // building the pack failed; the server's error only says that the pack is incomplete
	}
	if w.Sent() {
		reader := onto.objects.reader
		err = b.confirm(ctx, sentPush{old: old, pushed: after.Commit, err: err, open: reader, backoff: a.opts.backoff})
	}
	if err != nil {
		return PushResult{}, err
	}
	return a.opts.result(after, true), nil
}

// startPush opens a push in the background; open waits for it. The caller must call done.
func (b *Branch) startPush(ctx context.Context) (open func() (*gitremote.Writer, error), done func()) {
	ctx, cancel := context.WithCancel(ctx)
	open = sync.OnceValues(func() (*gitremote.Writer, error) { return b.remote.Writer(ctx) })
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		_, _ = open()
	}()
	return open, func() {
		defer cancel()
		select {
		case <-opened:
		default:
			cancel() // nothing to push
		}
		if w, err := open(); err == nil {
			w.Close() // not cancelled: the server may still run hooks
		}
	}
}

// result returns the result of a push that left the branch at s.
func (o PushOptions) result(s *Snapshot, pushed bool) PushResult {
	r := PushResult{Commit: s.Commit, Pushed: pushed}
	if o.CachePath != "" {
		r.Cache = s.TreeCache(o.CachePath)
	}
	return r
}
