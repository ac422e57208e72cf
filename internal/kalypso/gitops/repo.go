package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// ErrCommitNotFound means that the repository has no such commit, or does not
// give it out.
var ErrCommitNotFound = errors.New("commit not found")

// Limits bound what is read of a repository. A bound that is 0 is none.
type Limits struct {
	Read int64 // bytes that one fetch may keep
	File int64 // bytes of the largest file that is read
}

// Repo is a repository that is read at commits. What was read is kept: a
// reference is looked up once, and an object fetched once. It is not safe for
// concurrent use.
type Repo struct {
	remote gitremote.Repository
	limits Limits
	store  gitremote.Objects
	heads  map[string]plumbing.Hash

	visit context.Context // of the visit that is on
	talk  gitremote.Reader
}

// OpenRepo gives a repository. Nothing is contacted; an error is about the URL.
func OpenRepo(client *gitremote.Client, url string, limits Limits) (*Repo, error) {
	remote, err := client.Remote(url)
	if err != nil {
		return nil, err
	}
	return &Repo{
		remote: remote, limits: limits, store: gitremote.Objects{},
		heads: map[string]plumbing.Hash{},
	}, nil
}

// WithConnection runs f, in which the repository and its snapshots can be read. All that
// f asks for is one conversation with the server, and none where everything is
// here already.
func (r *Repo) WithConnection(ctx context.Context, f func()) {
	r.visit = ctx
	defer func() {
		r.Close()
		r.visit = nil
	}()
	f()
}

// Close ends the conversation, if there is one.
func (r *Repo) Close() {
	if r.talk != nil {
		r.talk.Close()
		r.talk = nil
	}
}

func (r *Repo) connect() error {
	if r.talk != nil {
		return nil
	}
	talk, err := r.remote.Reader(r.visit)
	r.talk = talk
	return err
}

// Head is the commit of a branch, looked up once. Zero: the repository was read
// and has no such branch.
func (r *Repo) Head(branch string) (plumbing.Hash, error) {
	if h, ok := r.heads[branch]; ok {
		return h, nil
	}
	if err := r.connect(); err != nil {
		return plumbing.ZeroHash, err
	}
	h, err := r.talk.Ref(plumbing.NewBranchReferenceName(branch))
	if err != nil {
		r.Close()
		return plumbing.ZeroHash, err
	}
	r.heads[branch] = h
	return h, nil
}

// Fetch brings objects within the limits of the repository. After an error the
// next one is a conversation of its own.
func (r *Repo) Fetch(req gitremote.FetchRequest, into gitremote.Objects) error {
	if err := r.connect(); err != nil {
		return err
	}
	req.MaxRead, req.MaxBlob = r.limits.Read, r.limits.File
	err := r.talk.Fetch(req, into)
	if err != nil {
		r.Close()
	}
	return err
}

// At opens the repository at a commit; the snapshot can be read during a visit.
// Where a server gives no commit by its name, it is looked for in the history of
// the branch, if one is named.
func (r *Repo) At(commit plumbing.Hash, branch string) (*Snapshot, error) {
	s, err := r.open(commit)
	// A server that gives no commit by its name gives nothing else by its name
	// either: then all comes with the branch.
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

// open fetches a commit with all its trees. Those of a GitOps repo may be many, and most of them of no interest; whoever
// reads objects wants few round trips.
func (r *Repo) open(commit plumbing.Hash) (*Snapshot, error) {
	s := newSnapshot(commit, r, r.store)
	return s, s.start(filterBlobs)
}

// search fetches the history of a branch, in which the commit has to be.
func (r *Repo) search(commit plumbing.Hash, branch string, filter packp.Filter) error {
	if branch != "" {
		head, err := r.Head(branch)
		if err == nil && !head.IsZero() {
			err = r.Fetch(gitremote.FetchRequest{Wants: []plumbing.Hash{head}, Filter: filter}, r.store)
		}
		if err != nil {
			return err
		}
		if _, here := r.store[commit]; here {
			return nil
		}
	}
	return fmt.Errorf("%w: %s has no commit %s, or does not give it out", ErrCommitNotFound, r.remote, commit)
}

// Contents fetches the contents of files by their hashes, together. Of a file
// past the limit of the repository it gives the size instead.
func (s *Snapshot) Contents(files []plumbing.Hash) (contents map[plumbing.Hash][]byte, tooLarge map[plumbing.Hash]int64, err error) {
	if err := s.bring(slices.Clone(files), ""); err != nil {
		return nil, nil, err
	}
	contents, tooLarge = map[plumbing.Hash][]byte{}, map[plumbing.Hash]int64{}
	for _, h := range files {
		if _, here := s.store[h]; !here {
			// It may have been told by its difference from one that is too large.
			if err := s.bring([]plumbing.Hash{h}, ""); err != nil {
				return nil, nil, err
			}
		}
		o, here := s.store[h]
		switch {
		case !here || o.Kind != plumbing.BlobObject:
			return nil, nil, fmt.Errorf("file %s: %w", h, errNotSent)
		case o.Size > 0:
			tooLarge[h] = o.Size
		default:
			contents[h] = o.Content
		}
	}
	return contents, tooLarge, nil
}
