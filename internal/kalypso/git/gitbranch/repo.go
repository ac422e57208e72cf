package gitbranch

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// ErrCommitNotFound means that the repository has no such commit, or does not serve it.
var ErrCommitNotFound = errors.New("commit not found")

// Repo reads a repository at commits. It looks up each branch once and fetches each object once. It is not safe for
// concurrent use.
type Repo struct {
	remote *gitremote.Remote
	limits gitremote.ReadLimits
	reader *gitremote.Reader // of the current connection
	store  gitremote.Objects
	heads  map[string]plumbing.Hash
}

// OpenRepo returns a repository. It contacts no server. An error concerns the URL.
func OpenRepo(client *gitremote.Client, url string, limits gitremote.ReadLimits) (*Repo, error) {
	remote, err := client.Remote(url)
	if err != nil {
		return nil, err
	}
	return &Repo{
		remote: remote, limits: limits, store: gitremote.Objects{},
		heads: map[string]plumbing.Hash{},
	}, nil
}

// WithConnection runs f. During f the repository and its snapshots can be read, over a single connection that is
// opened on demand.
func (r *Repo) WithConnection(ctx context.Context, f func()) {
	r.reader = r.remote.Reader(ctx, r.limits)
	defer r.reader.Close()
	f()
}

// Head returns the commit of a branch, looked up once. It returns zero if the repository was read and has no such
// branch.
func (r *Repo) Head(branch string) (plumbing.Hash, error) {
	if h, ok := r.heads[branch]; ok {
		return h, nil
	}
	h, err := r.reader.Ref(plumbing.NewBranchReferenceName(branch))
	if err == nil {
		r.heads[branch] = h
	}
	return h, err
}

// At opens the repository at a commit. The snapshot can be read during [Repo.WithConnection]. If the server does not
// serve commits by hash, At searches the history of the branch, if one is given.
func (r *Repo) At(commit plumbing.Hash, branch string) (*Snapshot, error) {
	s, err := r.open(commit)
	// A server that serves no commits by hash serves no other objects by hash either. In that case, the second attempt
	// fetches the branch with all files.
	for _, filter := range []packp.Filter{filterAll, ""} {
		if !errors.Is(err, gitremote.ErrObjectNotServed) {
			break
		}
		if err := r.search(commit, branch, filter); err != nil {
			return nil, err
		}
		s, err = r.open(commit)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open fetches a commit with all its trees, in few round trips.
func (r *Repo) open(commit plumbing.Hash) (*Snapshot, error) {
	s := newSnapshot(commit, r.reader, r.store)
	return s, s.fetchRoot(filterBlobs)
}

// search fetches the history of a branch, which must contain the commit.
func (r *Repo) search(commit plumbing.Hash, branch string, filter packp.Filter) error {
	if branch != "" {
		head, err := r.Head(branch)
		if err == nil && !head.IsZero() {
			err = r.reader.Fetch(gitremote.FetchRequest{Wants: []plumbing.Hash{head}, Filter: filter}, r.store)
		}
		if err != nil {
			return err
		}
		if _, here := r.store[commit]; here {
			return nil
		}
	}
	return fmt.Errorf("%w: %s has no commit %s, or does not serve it", ErrCommitNotFound, r.remote, commit)
}
