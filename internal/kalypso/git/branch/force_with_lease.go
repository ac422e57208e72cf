package branch

import "context"

// ForceWithLease makes the branch one commit on top of base, a branch of the same repository, and discards its old
// commits. Use it only for branches of our own. build gets both branches and returns the change
// relative to base; it must reject a branch that is not ours. If the edit is nil or changes nothing in
// base, the branch stays.
//
// The branch moves only if it is still at the head that build saw. If base is absent, the error is [ErrBranchNotFound].
// Otherwise it fails as [Branch.Update] does.
func (b *Branch) ForceWithLease(
	ctx context.Context, base *Branch, opts UpdateOptions,
	build func(ctx context.Context, base, now *Snapshot) (*Edit, error),
) (UpdateResult, error) {
	return b.update(ctx, base, opts, build)
}
