package gitops

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// ForceWithLease makes the branch one commit on top of base, a branch of the same
// repository, whatever it held before: it is for branches that nobody else
// writes to. build gets both branches as they are and says what the commit
// changes of base; it refuses a branch that is not its own. An edit that is nil,
// or changes nothing of base, leaves the branch as it is.
//
// The branch moves only from the head that build saw ("force with lease"). An
// absent base is [ErrBranchNotFound]; else the errors are those of
// [Branch.Update].
func (b *Branch) ForceWithLease(ctx context.Context, base *Branch, opts UpdateOptions, build func(ctx context.Context, base, now *Snapshot) (*Edit, error)) (Result, error) {
	opts = opts.withDefaults()
	return b.again(ctx, opts, func() (Result, error) {
		opts.Progress(StageRead, 0, 0)
		onto, err := base.open(ctx, opts.Cache)
		if err != nil {
			return Result{}, err
		}
		defer onto.Close()
		if onto.Commit.IsZero() {
			return Result{}, fmt.Errorf("%s: %w", base, ErrBranchNotFound)
		}
		now, err := b.Snapshot(ctx)
		if err != nil {
			return Result{}, err
		}
		defer now.Close()
		edit, err := build(ctx, onto, now)
		if err != nil || edit == nil {
			return Result{Commit: now.Commit}, err
		}
		return b.put(ctx, opts, onto, edit, now.Commit)
	})
}

// Delete takes the branch away, if it still is at a commit: else
// [gitremote.ErrBranchMoved].
func (b *Branch) Delete(ctx context.Context, at plumbing.Hash) error {
	w, err := b.remote.Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	err = w.Push(gitremote.PushRequest{Branch: b.ref, Old: at})
	if !w.Sent() {
		return err
	}
	return b.confirm(ctx, outcome{old: at, err: err, wait: wait})
}

// Last is what the commit of the snapshot says, and its parents.
func (s *Snapshot) CommitInfo() (message string, parents []plumbing.Hash, err error) {
	commit, ok, err := s.commitAt(s.Commit)
	if err != nil || !ok {
		return "", nil, err
	}
	return commit.Message, commit.ParentHashes, nil
}
