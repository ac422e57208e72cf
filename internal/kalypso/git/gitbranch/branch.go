package gitbranch

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// ErrBranchNotFound means that the repository has no such branch.
var ErrBranchNotFound = errors.New("branch not found")

// Branch is one branch of one repository.
type Branch struct {
	remote *gitremote.Remote
	name   string
	ref    plumbing.ReferenceName
}

// Open returns a branch. It contacts no server. An error concerns the URL or the name.
func Open(client *gitremote.Client, repo, branch string) (*Branch, error) {
	remote, err := client.Remote(repo)
	if err != nil {
		return nil, err
	}
	if err := CheckName(branch); err != nil {
		return nil, err
	}
	return &Branch{remote: remote, name: branch, ref: plumbing.NewBranchReferenceName(branch)}, nil
}

// Key identifies the branch within a process: two values for the same branch have the same key.
func (b *Branch) Key() string { return b.remote.Key() + "#" + b.name }

// String returns "branch of repository", for messages.
func (b *Branch) String() string { return "branch " + quote(b.name) + " of " + b.remote.String() }

// Head looks up the commit of the branch. It returns zero if the repository was read and has no such branch.
func (b *Branch) Head(ctx context.Context) (plumbing.Hash, error) {
	r := b.reader(ctx)
	defer r.Close()
	return r.Ref(b.ref)
}

// reader returns a session that reads the repository without limits.
func (b *Branch) reader(ctx context.Context) *gitremote.Reader {
	return b.remote.Reader(ctx, gitremote.ReadLimits{})
}

// Filters for fetches: leave out file contents, or everything that is not requested by hash. Git hosts support these
// two.
const (
	filterBlobs = packp.Filter("blob:none")
	filterAll   = packp.Filter("tree:0")
)

// ReadHead opens a branch at its latest commit: see [Open] and [Branch.Snapshot].
func ReadHead(ctx context.Context, client *gitremote.Client, repo, branch string) (*Snapshot, error) {
	b, err := Open(client, repo, branch)
	if err != nil {
		return nil, err
	}
	return b.Snapshot(ctx)
}

// Snapshot opens the branch at its latest commit. The snapshot fetches trees on demand, without file contents and
// without history; a server without filter support sends the whole commit at once. The caller must close the
// snapshot.
func (b *Branch) Snapshot(ctx context.Context) (*Snapshot, error) {
	return b.open(ctx, TreeCache{})
}

// open opens the branch, and reuses the cache if it belongs to the latest commit.
func (b *Branch) open(ctx context.Context, cache TreeCache) (*Snapshot, error) {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		s, err := b.snapshot(ctx, cache)
		// The branch may move between lookup and fetch, and an older server
		// serves only the current tip.
		if errors.Is(err, gitremote.ErrObjectNotServed) && attempt < attempts {
			continue
		}
		return s, err
	}
}

func (b *Branch) snapshot(ctx context.Context, cache TreeCache) (*Snapshot, error) {
	r := b.reader(ctx)
	head, err := r.Ref(b.ref)
	s := newSnapshot(head, r, cache.objects(head))
	if err == nil && !head.IsZero() {
		err = s.fetchRoot(filterAll)
	}
	if err == nil {
		return s, nil
	}
	r.Close()
	if _, known := errors.AsType[*gitremote.Error](err); known { // it names the repo
		return nil, err
	}
	return nil, fmt.Errorf("%s: %w", b, err)
}

// Delete deletes the branch if it is still at a commit, and returns [gitremote.ErrBranchMoved] if not.
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
	return b.confirm(ctx, sentPush{old: at, err: err, backoff: backoff})
}
