package gitbranch

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// Snapshot is a branch at one commit. It fetches trees and file contents on demand; [Snapshot.Load] fetches many at
// once. If something cannot be fetched or is broken, the call that needs it returns an error. The snapshot of an
// absent branch is empty. A snapshot is not safe for concurrent use, and is valid as long as the context that created
// it.
type Snapshot struct {
	Commit plumbing.Hash // zero: the branch is absent
	Root   plumbing.Hash // the root tree; zero: the branch is absent

	objects *objects
}

// newSnapshot returns a snapshot of a commit. It finds fetched objects in store, and adds to it.
func newSnapshot(commit plumbing.Hash, reader *gitremote.Reader, store gitremote.Objects) *Snapshot {
	return &Snapshot{Commit: commit, objects: newObjects(commit, reader, store)}
}

// fetchRoot fetches the commit, without what the filter leaves out, and its root tree.
func (s *Snapshot) fetchRoot(filter packp.Filter) (err error) {
	if _, here := s.objects.store[s.Commit]; !here {
		if err := s.objects.fetchCommits(s.Commit, 1, filter); err != nil {
			return err
		}
	}
	s.Root, err = s.objects.rootOf(s.Commit)
	if err != nil {
		return err
	}
	_, err = s.objects.tree(s.Root)
	return s.folderError(".", err)
}

// Close closes the connection to the server.
func (s *Snapshot) Close() { s.objects.reader.Close() }

// History returns the history that ends with the snapshot's commit. It shares the connection and the fetched objects.
func (s *Snapshot) History() History { return History{s.objects} }

// Load fetches all trees below the paths at once. It skips paths that are not folders, and what is below corrupt trees:
// the call that reads such a path returns the error.
func (s *Snapshot) Load(paths ...string) error {
	var trees []plumbing.Hash
	for _, path := range paths {
		at, ok, err := s.find(path)
		if err != nil && !isFolderFault(err) {
			return err
		}
		if ok && at.IsTree() {
			trees = append(trees, at.Hash)
		}
	}
	return s.objects.fetchSubtrees(trees)
}

// LoadTrees fetches trees by their hashes at once, without their subtrees.
func (s *Snapshot) LoadTrees(trees []plumbing.Hash) error {
	return s.objects.fetch(slices.Clone(trees), filterAll)
}

// Fork returns a snapshot that begins with the objects fetched so far. Objects that the fork fetches are freed together
// with the fork, so that a large branch can be read part by part. It shares the connection: use one of the two at a
// time.
func (s *Snapshot) Fork() *Snapshot {
	forked := newObjects(s.objects.tip, s.objects.reader, maps.Clone(s.objects.store))
	maps.Copy(forked.trees, s.objects.trees)
	return &Snapshot{Commit: s.Commit, Root: s.Root, objects: forked}
}

// Subtree returns a snapshot with another root: a tree that the repo contains, such as one of an earlier commit of the
// branch. ok is false if the server does not serve that tree.
func (s *Snapshot) Subtree(root plumbing.Hash) (tree *Snapshot, ok bool, err error) {
	missing, err := s.objects.missingSubtrees(root)
	if err == nil {
		err = s.objects.fetchByHash(missing, filterBlobs)
	}
	if errors.Is(err, gitremote.ErrObjectNotServed) {
		return nil, false, nil
	}
	return &Snapshot{Commit: s.Commit, Root: root, objects: s.objects}, err == nil, err
}

// CommitInfo returns the snapshot's commit, or the zero value if the branch is absent.
func (s *Snapshot) CommitInfo() (Commit, error) {
	commit, _, err := s.objects.commit(s.Commit)
	return commit, err
}

// find looks up a path. The root is a tree without a name.
func (s *Snapshot) find(path string) (found entry, ok bool, err error) {
	found, ok, err = s.objects.find(s.Root, path)
	return found, ok, s.folderError(path, err)
}

// list returns the entries of a folder, or none if the path is not a folder.
func (s *Snapshot) list(path string) ([]entry, error) {
	at, ok, err := s.find(path)
	if err != nil || !ok || !at.IsTree() {
		return nil, err
	}
	entries, err := s.objects.tree(at.Hash)
	return entries, s.folderError(path, err)
}

// Folders returns the folders directly below a path ("." for the root), by name, with the hashes of their trees. It
// returns none if the path is not a folder. It leaves out names that Git refuses, which no work tree can contain.
func (s *Snapshot) Folders(path string) (map[string]plumbing.Hash, error) {
	entries, err := s.list(path)
	return folders(entries), err
}

// NonFolders returns the entries directly below a path that are not folders, by name: files, links, submodules. It
// leaves out names that Git refuses.
func (s *Snapshot) NonFolders(path string) (map[string]object.TreeEntry, error) {
	entries, err := s.list(path)
	found := map[string]object.TreeEntry{}
	for _, e := range entries {
		if !e.IsTree() && gitobject.CheckName(e.Name) == nil {
			found[e.Name] = treeEntry(e)
		}
	}
	return found, err
}

// Entry returns the entry at a path. ok is false if there is none.
func (s *Snapshot) Entry(path string) (e object.TreeEntry, ok bool, err error) {
	found, ok, err := s.find(path)
	if err != nil || !ok {
		return object.TreeEntry{}, false, err
	}
	return treeEntry(found), true, nil
}

// Walk walks below a path: see [Walker.Walk]. If several paths are walked, use one [Walker] for all of them.
func (s *Snapshot) Walk(path string, visit func(path string, e object.TreeEntry) error) error {
	return s.Walker().Walk(path, visit)
}

// ReadFiles returns the contents of files, fetched together, by path. Paths without a file are left out.
func (s *Snapshot) ReadFiles(paths []string) (map[string][]byte, error) {
	found := map[string]entry{}
	for _, path := range paths {
		e, _, err := s.find(path)
		if err != nil {
			return nil, err
		}
		e.Name = path // for errors
		found[path] = e
	}
	return readFiles(s.objects, found)
}

// Contents fetches several files by hash. For a file above the size limit it returns the size instead.
func (s *Snapshot) Contents(
	files []plumbing.Hash,
) (contents map[plumbing.Hash][]byte, tooLarge map[plumbing.Hash]int64, err error) {
	if err := s.objects.fetch(slices.Clone(files), ""); err != nil {
		return nil, nil, err
	}
	contents, tooLarge = map[plumbing.Hash][]byte{}, map[plumbing.Hash]int64{}
	for _, h := range files {
		if _, here := s.objects.store[h]; !here {
			// The pack may have contained the file as a delta on a file that was too large to keep.
			if err := s.objects.fetch([]plumbing.Hash{h}, ""); err != nil {
				return nil, nil, err
			}
		}
		o, here := s.objects.store[h]
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
