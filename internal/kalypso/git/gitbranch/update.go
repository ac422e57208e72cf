package gitbranch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// The stages of an update, as reported to [UpdateOptions.Progress].
const (
	StageRead = "read" // reading the branch's trees
	StagePack = "pack" // done counts changed folders
	StagePush = "push" // done counts sent bytes
)

// UpdateOptions configure [Branch.Update]. The zero value has the defaults.
type UpdateOptions struct {
	// Base is the branch of the same repository on which the commit is made; nil: the updated branch itself. With another
	// base, the update discards all old commits, as git push --force-with-lease does. Use it only for branches of our own.
	Base *Branch
	// CreateBranch creates an absent branch with the edit as its first commit.
	CreateBranch bool
	// Progress is called during each stage. A total of 0 means unknown.
	Progress func(stage string, done, total int)
	// Attempts bounds how often the update runs if other pushes move the branch; 0: 10 times.
	Attempts int
	// CachePath is the path for which the result returns a tree cache; empty: none.
	CachePath string
	// Cache is the tree cache of an earlier result.
	Cache TreeCache
	// PackBuffer bounds the part of the pack that is kept in memory, in bytes; 0: 16 MiB. The rest is packed while it
	// is sent.
	PackBuffer int
	// Backoff waits before another attempt; the first one is 1. It returns early if ctx is done. Nil: a random time
	// that doubles, from 50 ms to 3 s.
	Backoff func(ctx context.Context, attempt int) error
}

// UpdateResult is the result of an update.
type UpdateResult struct {
	Commit plumbing.Hash // the head with the edit; zero: the branch is absent and the edit empty
	Pushed bool          // false: the branch already had the edit
	Cache  TreeCache     // of Commit, as far as it was read or written
}

// BuildFunc returns the change of an update relative to base. now is the branch to move, which may be base.
type BuildFunc func(ctx context.Context, base, now *Snapshot) (*Edit, error)

// Update makes the branch one commit on top of its base. build gets the base and the branch, which may be the same, and
// returns the change of the base; Update calls it again if another commit came first. If the edit is nil or changes
// nothing in the base, the branch stays. Updates of the same branch in one process run one after another.
//
// The branch moves only from the head that build saw. With another base, build must reject a branch that is not ours.
// The errors are [ErrBranchNotFound] if the base is absent, unless CreateBranch is set for the branch itself,
// [gitremote.ErrRejected] if the server rejects the push, and
// [gitremote.ErrBranchMoved] if other pushes keep moving the branch. Update reads the branch after each push: if the
// server reported success but the branch does not contain the commit, the error is [ErrPushLost]. If ctx is cancelled
// before the branch contains the commit, it is an *[InterruptedError].
func (b *Branch) Update(ctx context.Context, opts UpdateOptions, build BuildFunc) (result UpdateResult, err error) {
	opts = opts.withDefaults()
	defer func() { err = b.interrupted(err, false) }()
	unlock, err := lock(ctx, b.Key())
	if err != nil {
		return UpdateResult{}, err
	}
	defer unlock()
	for attempt := 1; ; attempt++ {
		result, err := b.attempt(ctx, opts, build)
		locked := errors.Is(err, gitremote.ErrBranchLocked)
		switch {
		case locked && attempt >= min(lockedAttempts, opts.Attempts):
			return UpdateResult{}, err
		case locked: // another running push may have the lock
		case !errors.Is(err, gitremote.ErrBranchMoved):
			return result, err
		case attempt >= opts.Attempts:
			return UpdateResult{}, fmt.Errorf("%s kept moving during %d attempts: %w", b, attempt, err)
		}
		if err := opts.Backoff(ctx, attempt); err != nil {
			return UpdateResult{}, err
		}
	}
}

// lockedAttempts limits how often a push to a locked branch is tried. A running push has the lock for some
// milliseconds, and Git itself waits about as long.
const lockedAttempts = 3

func (o UpdateOptions) withDefaults() UpdateOptions {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if o.Attempts == 0 {
		o.Attempts = 10
	}
	if o.PackBuffer == 0 {
		o.PackBuffer = 16 << 20
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	return o
}

// backoff waits a random time, so that competing processes spread out.
func backoff(ctx context.Context, attempt int) error {
	most := min(100*time.Millisecond<<attempt, 3*time.Second)
	return clock.Sleep(ctx, most/4+rand.N(most*3/4))
}

func (b *Branch) attempt(ctx context.Context, opts UpdateOptions, build BuildFunc) (UpdateResult, error) {
	opts.Progress(StageRead, 0, 0)
	base := cmp.Or(opts.Base, b)
	onto, err := base.open(ctx, opts.Cache)
	if err != nil {
		return UpdateResult{}, err
	}
	defer onto.Close()
	now, absent := onto, fmt.Errorf("%s: %w", base, ErrBranchNotFound)
	if base != b {
		if onto.Commit.IsZero() {
			return UpdateResult{}, absent
		}
		if now, err = b.Snapshot(ctx); err != nil {
			return UpdateResult{}, err
		}
		defer now.Close()
	}
	edit, err := build(ctx, onto, now)
	switch {
	case err != nil:
		return UpdateResult{}, err
	case edit == nil:
		return opts.result(now, false), nil
	case onto.Commit.IsZero() && !opts.CreateBranch:
		return UpdateResult{}, absent
	}
	return b.commitAndPush(ctx, opts, onto, edit, now.Commit)
}

// commitAndPush moves the branch from old to one commit on top of a snapshot.
func (b *Branch) commitAndPush(
	ctx context.Context, opts UpdateOptions, s *Snapshot, edit *Edit, old plumbing.Hash,
) (UpdateResult, error) {
	open, done := b.startPush(ctx)
	defer done()
	after, p, err := commitBuilder{onto: s, edit: edit}.build(ctx, opts)
	if err != nil {
		return UpdateResult{}, err
	}
	if after == s {
		return opts.result(s, false), nil
	}
	w, err := open()
	if err != nil {
		return UpdateResult{}, err
	}
	pack := p.stream(ctx, func(sent int) { opts.Progress(StagePush, sent, 0) })
	err = w.Push(gitremote.PushRequest{Branch: b.ref, Old: old, New: after.Commit, Pack: pack, Size: pack.size})
	if failed := pack.stop(); failed != nil {
		return UpdateResult{}, failed // building the pack failed; the server's error only says that the pack is incomplete
	}
	if w.Sent() {
		reader := s.objects.reader
		err = b.confirm(ctx, sentPush{old: old, pushed: after.Commit, err: err, open: reader, backoff: opts.Backoff})
	}
	if err != nil {
		return UpdateResult{}, err
	}
	return opts.result(after, true), nil
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

// result returns the result of an update that left the branch at s.
func (o UpdateOptions) result(s *Snapshot, pushed bool) UpdateResult {
	r := UpdateResult{Commit: s.Commit, Pushed: pushed}
	if o.CachePath != "" {
		r.Cache = s.TreeCache(o.CachePath)
	}
	return r
}
