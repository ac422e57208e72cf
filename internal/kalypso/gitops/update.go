package gitops

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Stages of an update, for its progress.
const (
	StageRead = "read" // the branch's trees
	StagePack = "pack" // done: folders of those that differ
	StagePush = "push" // done: bytes of the pack
)

// UpdateOptions change what [Branch.Update] does. The zero value is good.
type UpdateOptions struct {
	// CreateBranch makes an absent branch with the edit as its first commit.
	CreateBranch bool
	// Progress hears of the stages. A total of 0 is not known.
	Progress func(stage string, done, total int)
	// Attempts bounds how often a lost race is run again; 0: 10 times.
	Attempts int
	// CachePath is the path to which the result has the way; empty: it has none.
	CachePath string
	// Known is the way that the result before had.
	Cache TreeCache
	// PackBuffer is how much of the pack is held in memory, bytes; 0: 16 MiB. What is
	// more is packed while it is sent.
	PackBuffer int
	// Wait passes the time before another try, the first of which is 1. It
	// ends with ctx. Nil: a random time, which doubles, from 50 ms to 3 s.
	Backoff func(ctx context.Context, try int) error
}

// Result is what became of an update.
type Result struct {
	Commit plumbing.Hash // the head that holds the edit; zero: the branch is absent, and there was nothing to write
	Pushed bool          // false: the branch held the edit already
	Cache  TreeCache     // from Commit on, as far as it was read or written
}

// Update changes the branch by one commit on top of its head. build gets the
// branch as it is and says what shall change; it is called again where another
// commit came first. An edit that is nil, or changes nothing, makes no commit.
// In one process the updates of a branch wait for each other.
//
// The branch moves only from the head that build saw, never by force. An
// absent branch without CreateBranch is [ErrBranchNotFound]; a refusal of the
// server [gitremote.ErrRejected]; a race that is lost over and over
// [gitremote.ErrBranchMoved]. After each push the branch is read: one that the
// server reports as done and does not hold is [ErrPushLost].
func (b *Branch) Update(ctx context.Context, opts UpdateOptions, build func(context.Context, *Snapshot) (*Edit, error)) (Result, error) {
	opts = opts.withDefaults()
	return b.again(ctx, opts, func() (Result, error) { return b.try(ctx, opts, build) })
}

// lockedTries is how often a branch that is locked is pushed to. Another push holds its lock for some milliseconds,
// and Git waits for that by itself.
const lockedTries = 3

// again runs an update of the branch, alone in this process, until it is not
// overtaken.
func (b *Branch) again(ctx context.Context, opts UpdateOptions, update func() (Result, error)) (Result, error) {
	unlock, err := lock(ctx, b.Key())
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	for try := 1; ; try++ {
		result, err := update()
		locked := errors.Is(err, gitremote.ErrBranchLocked)
		switch {
		case locked && try >= min(lockedTries, opts.Attempts):
			return Result{}, err
		case locked: // perhaps by a push that is being written
		case !errors.Is(err, gitremote.ErrBranchMoved):
			return result, err
		case try >= opts.Attempts:
			return Result{}, fmt.Errorf("%s kept moving, %d tries were overtaken: %w", b, try, err)
		}
		if err := opts.Backoff(ctx, try); err != nil {
			return Result{}, err
		}
	}
}

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
		o.Backoff = wait
	}
	return o
}

// wait spreads those who race over time.
func wait(ctx context.Context, try int) error {
	most := min(100*time.Millisecond<<try, 3*time.Second)
	return clock.Sleep(ctx, most/4+rand.N(most*3/4))
}

func (b *Branch) try(ctx context.Context, opts UpdateOptions, build func(context.Context, *Snapshot) (*Edit, error)) (Result, error) {
	opts.Progress(StageRead, 0, 0)
	s, err := b.open(ctx, opts.Cache)
	if err != nil {
		return Result{}, err
	}
	defer s.Close()
	edit, err := build(ctx, s)
	if err != nil {
		return Result{}, err
	}
	if edit == nil {
		return opts.result(s, false), nil
	}
	if s.Commit.IsZero() && !opts.CreateBranch {
		return Result{}, fmt.Errorf("%s: %w", b, ErrBranchNotFound)
	}
	return b.put(ctx, opts, s, edit, s.Commit)
}

// put moves the branch from old to one commit on top of a snapshot.
func (b *Branch) put(ctx context.Context, opts UpdateOptions, s *Snapshot, edit *Edit, old plumbing.Hash) (Result, error) {
	open, done := b.writer(ctx)
	defer done()
	after, p, err := s.commit(ctx, edit, opts)
	if err != nil {
		return Result{}, err
	}
	if after == s {
		return opts.result(s, false), nil
	}
	w, err := open()
	if err != nil {
		return Result{}, err
	}
	pack := p.send(ctx, func(sent int) { opts.Progress(StagePush, sent, 0) })
	err = w.Push(gitremote.PushRequest{Branch: b.ref, Old: old, New: after.Commit, Pack: pack, Size: pack.size})
	if failed := pack.stop(); failed != nil {
		return Result{}, failed // and what the server says is of a pack that broke off
	}
	if w.Sent() {
		talk, _ := s.reader.(gitremote.Reader)
		err = b.confirm(ctx, outcome{old: old, pushed: after.Commit, err: err, open: talk, wait: opts.Backoff})
	}
	if err != nil {
		return Result{}, err
	}
	return opts.result(after, true), nil
}

// writer starts a push beside other work; open waits for it. done ends it,
// whatever became of it.
func (b *Branch) writer(ctx context.Context) (open func() (gitremote.Writer, error), done func()) {
	ctx, cancel := context.WithCancel(ctx)
	open = sync.OnceValues(func() (gitremote.Writer, error) { return b.remote.Writer(ctx) })
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
			cancel() // nothing is to be pushed
		}
		if w, err := open(); err == nil {
			w.Close() // not cancelled: a server that took the push may still have hooks to run
		}
	}
}

// result is that of an update which left the branch as s.
func (o UpdateOptions) result(s *Snapshot, pushed bool) Result {
	r := Result{Commit: s.Commit, Pushed: pushed}
	if o.CachePath != "" {
		r.Cache = s.TreeCache(o.CachePath)
	}
	return r
}
