package gitops

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Snapshot is a branch as it was at one commit: all its trees, and the
// contents of its files on demand. A branch that is absent has an empty one.
// It is not safe for concurrent use.
type Snapshot struct {
	Commit plumbing.Hash // zero: the branch is absent
	Root   plumbing.Hash // the root tree; zero: the branch is absent

	remote *gitremote.Remote
	store  gitremote.Objects
	trees  map[plumbing.Hash][]entry
}

// load reads all the trees below a root, so that what is broken shows now.
func (s *Snapshot) load(root plumbing.Hash) error {
	if _, done := s.trees[root]; done {
		return nil
	}
	raw, ok := s.raw(plumbing.TreeObject, root)
	if !ok {
		return fmt.Errorf("%w: %s is missing", errBadTree, root)
	}
	entries, err := parseTree(raw)
	if err != nil {
		return err
	}
	s.trees[root] = entries
	for _, e := range entries {
		if e.isTree() {
			if err := s.load(e.hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// raw is the content of an object that is there.
func (s *Snapshot) raw(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, bool) {
	o, ok := s.store[h]
	return o.Content, ok && o.Kind == kind
}

// commitAt is a commit that is there.
func (s *Snapshot) commitAt(h plumbing.Hash) (*object.Commit, bool, error) {
	raw, ok := s.raw(plumbing.CommitObject, h)
	if !ok {
		return nil, false, nil
	}
	o := &plumbing.MemoryObject{}
	o.SetType(plumbing.CommitObject)
	_, _ = o.Write(raw)
	c := &object.Commit{}
	if err := c.Decode(o); err != nil {
		return nil, true, fmt.Errorf("commit %s: %w", h, err)
	}
	return c, true, nil
}

// find walks down a path. The root is found as a tree without a name.
func (s *Snapshot) find(path string) (entry, bool) {
	names, err := splitPath(path)
	if err != nil || s.Root.IsZero() {
		return entry{}, false
	}
	at := entry{mode: modeTree, hash: s.Root}
next:
	for _, name := range names {
		if !at.isTree() {
			return entry{}, false
		}
		for _, e := range s.trees[at.hash] {
			if e.name == name {
				at = e
				continue next
			}
		}
		return entry{}, false
	}
	return at, true
}

// Folders are the folders directly below a path ("." for the root), by name,
// with the hashes of their trees. A path that is no folder has none.
func (s *Snapshot) Folders(path string) map[string]plumbing.Hash {
	folders := map[string]plumbing.Hash{}
	if at, ok := s.find(path); ok && at.isTree() {
		for _, e := range s.trees[at.hash] {
			if e.isTree() {
				folders[e.name] = e.hash
			}
		}
	}
	return folders
}

// Entry is what lies at a path, if anything does.
func (s *Snapshot) Entry(path string) (object.TreeEntry, bool) {
	e, ok := s.find(path)
	if !ok {
		return object.TreeEntry{}, false
	}
	return e.public(), true
}

// Walk is everything below a path that is no folder (files, links,
// submodules), in the byte order of the paths, which are from the root.
func (s *Snapshot) Walk(path string) iter.Seq2[string, object.TreeEntry] {
	return func(yield func(string, object.TreeEntry) bool) {
		at, ok := s.find(path)
		if !ok || !at.isTree() {
			return
		}
		prefix := ""
		if path != "." {
			prefix = path + "/"
		}
		s.walk(at.hash, prefix, func(p string, e entry) bool { return yield(p, e.public()) })
	}
}

func (s *Snapshot) walk(tree plumbing.Hash, prefix string, yield func(string, entry) bool) bool {
	for _, e := range s.trees[tree] {
		if e.isTree() {
			if !s.walk(e.hash, prefix+e.name+"/", yield) {
				return false
			}
		} else if !yield(prefix+e.name, e) {
			return false
		}
	}
	return true
}

// errNotSent: the server answered without what was asked for.
var errNotSent = errors.New("the server did not send it")

// ErrNoFile means that there is no file at a path of the branch.
var ErrNoFile = errors.New("no such file on the branch")

// ReadFile is the content of a file, fetched where it is not there yet. Where
// there is none, the error is [ErrNoFile].
func (s *Snapshot) ReadFile(ctx context.Context, path string) ([]byte, error) {
	files, err := s.ReadFiles(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	content, ok := files[path]
	if !ok {
		return nil, &PathError{Path: path, Err: ErrNoFile}
	}
	return content, nil
}

// ReadFiles are the contents of files, fetched together. A path without a file
// has no key.
func (s *Snapshot) ReadFiles(ctx context.Context, paths []string) (map[string][]byte, error) {
	found := map[string]plumbing.Hash{}
	var missing []plumbing.Hash
	for _, path := range paths {
		e, ok := s.find(path)
		if !ok || e.isTree() || e.mode == modeModule {
			continue
		}
		found[path] = e.hash
		if _, here := s.store[e.hash]; !here {
			missing = append(missing, e.hash)
		}
	}
	if err := s.fetch(ctx, missing); err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(found))
	for path, hash := range found {
		content, ok := s.raw(plumbing.BlobObject, hash)
		if !ok {
			return nil, &PathError{Path: path, Err: errNotSent}
		}
		files[path] = content
	}
	return files, nil
}

// fetch brings blobs by their names; from a server that does not give them so,
// with all the others of the commit.
func (s *Snapshot) fetch(ctx context.Context, blobs []plumbing.Hash) error {
	if len(blobs) == 0 {
		return nil
	}
	err := s.remote.Fetch(ctx, gitremote.FetchRequest{Wants: blobs}, s.store)
	if !errors.Is(err, gitremote.ErrObjectNotServed) {
		return err
	}
	return s.remote.Fetch(ctx, gitremote.FetchRequest{Wants: []plumbing.Hash{s.Commit}, Depth: 1}, s.store)
}
