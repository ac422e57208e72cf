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
	remote *gitremote.Remote
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

// filterBlobs leaves the contents of files out.
const filterBlobs = packp.Filter("blob:none")

// Snapshot reads the branch's last commit and its trees, without the contents
// of its files where the server can leave them out, and without history.
func (b *Branch) Snapshot(ctx context.Context) (*Snapshot, error) {
	const tries = 3
	for try := 1; ; try++ {
		s, err := b.snapshot(ctx)
		// Between the look-up and the fetch the branch may have moved, and an
		// older server gives the tip alone.
		if errors.Is(err, gitremote.ErrObjectNotServed) && try < tries {
			continue
		}
		return s, err
	}
}

func (b *Branch) empty() *Snapshot {
	return &Snapshot{remote: b.remote, store: gitremote.Objects{}, trees: map[plumbing.Hash][]entry{}}
}

func (b *Branch) snapshot(ctx context.Context) (*Snapshot, error) {
	s := b.empty()
	rd, err := b.remote.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	if s.Commit, err = rd.Ref(b.ref); err != nil || s.Commit.IsZero() {
		return s, err
	}
	want := gitremote.FetchRequest{Wants: []plumbing.Hash{s.Commit}, Depth: 1, Filter: filterBlobs}
	if err := rd.Fetch(want, s.store); err != nil {
		return nil, err
	}
	commit, ok, err := s.commitAt(s.Commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b, err)
	}
	if !ok {
		return nil, fmt.Errorf("%s: commit %s: %w", b, s.Commit, errNotSent)
	}
	s.Root = commit.TreeHash
	if err := s.load(s.Root); err != nil {
		return nil, fmt.Errorf("%s: %w", b, err)
	}
	return s, nil
}
