package gitops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// ErrBranchNotFound means that the repository has no such branch.
var ErrBranchNotFound = errors.New("branch not found")

// Branch is one branch of one repository.
type Branch struct {
	remote gitremote.Repository
	name   string
	ref    plumbing.ReferenceName
}

// Open gives a branch. Nothing is contacted; an error is about the URL or the
// name.
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

// CheckName returns why name can't be that of a branch, or nil.
func CheckName(name string) error {
	switch {
	case strings.HasPrefix(name, "refs/"):
		return fmt.Errorf("%q is the name of a reference; write the branch's own, without refs/heads/", name)
	case name == "HEAD":
		return fmt.Errorf("%q is Git's name for what is checked out, not that of a branch; write the branch's own", name)
	case name == "" || plumbing.NewBranchReferenceName(name).Validate() != nil:
		return fmt.Errorf("%q is not a name that Git allows for a branch: no blanks, no two dots, no dash in front", name)
	}
	return nil
}

// Key is the same for two branches that are one: what a process locks.
func (b *Branch) Key() string { return b.remote.Key() + "#" + b.name }

// String is "branch of repository", for messages.
func (b *Branch) String() string { return "branch " + quote(b.name) + " of " + b.remote.String() }

// Head is the commit of the branch: one look-up. Zero: the repository was read
// and has no such branch.
func (b *Branch) Head(ctx context.Context) (plumbing.Hash, error) {
	return b.remote.Ref(ctx, b.ref)
}

// What a server is asked to leave out: the contents of files; or all that is not
// asked for by its name. These two are the filters that hosts allow.
const (
	filterBlobs = packp.Filter("blob:none")
	filterAll   = packp.Filter("tree:0")
)

// Snapshot opens the branch at its last commit. Its trees come when they are
// asked for, without the contents of files and without history; a server that
// cannot filter sends all of the commit at once. Close the snapshot.
func (b *Branch) Snapshot(ctx context.Context) (*Snapshot, error) {
	return b.open(ctx, TreeCache{})
}

// open opens the branch where a way to its last commit may be known.
func (b *Branch) open(ctx context.Context, cache TreeCache) (*Snapshot, error) {
	const tries = 3
	for try := 1; ; try++ {
		s, err := b.snapshot(ctx, cache)
		// Between the look-up and the fetch the branch may have moved, and an
		// older server gives the tip alone.
		if errors.Is(err, gitremote.ErrObjectNotServed) && try < tries {
			continue
		}
		return s, err
	}
}

func (b *Branch) snapshot(ctx context.Context, cache TreeCache) (s *Snapshot, err error) {
	reader, err := b.remote.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			reader.Close()
		}
	}()
	head, err := reader.Ref(b.ref)
	if err != nil {
		return nil, err
	}
	s = newSnapshot(head, reader, cache.objects(head))
	if head.IsZero() {
		return s, nil
	}
	if err := s.start(filterAll); err != nil {
		var remote *gitremote.Error
		if errors.As(err, &remote) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", b, err)
	}
	return s, nil
}
