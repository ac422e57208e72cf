package branch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
	gitremote "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/remote"
)

// Snapshot is a branch at one commit. It fetches trees and file contents on demand; [Snapshot.Load] fetches many at
// once. If something cannot be fetched or is broken, the call that needs it returns an error. The snapshot of an
// absent branch is empty. A snapshot is not safe for concurrent use, and is valid as long as the context that created
// it.
type Snapshot struct {
	Commit plumbing.Hash // zero: the branch is absent
	Root   plumbing.Hash // the root tree; zero: the branch is absent

	reader  fetcher
	store   gitremote.Objects
	trees   map[plumbing.Hash][]entry
	written gitremote.Objects // written by an edit: the trees above its folders
}

// newSnapshot returns a snapshot of a commit. It finds fetched objects in store, and adds to it.
func newSnapshot(commit plumbing.Hash, reader fetcher, store gitremote.Objects) *Snapshot {
	return &Snapshot{
		Commit: commit, reader: reader, store: store,
		trees: map[plumbing.Hash][]entry{}, written: gitremote.Objects{},
	}
}

// fetcher fetches objects from a server: a [gitremote.Reader] or a [Repo].
type fetcher interface {
	Fetch(req gitremote.FetchRequest, into gitremote.Objects) error
	Close()
}

// fetchRoot fetches the commit, without what the filter leaves out, and its root tree.
func (s *Snapshot) fetchRoot(filter packp.Filter) error {
	if _, here := s.store[s.Commit]; !here {
		want := gitremote.FetchRequest{Wants: []plumbing.Hash{s.Commit}, Depth: 1, Filter: filter}
		if err := s.reader.Fetch(want, s.store); err != nil {
			return err
		}
	}
	commit, ok, err := s.commitAt(s.Commit)
	if err == nil && !ok {
		err = fmt.Errorf("commit %s: %w", s.Commit, errNotSent)
	}
	if err != nil {
		return err
	}
	s.Root = commit.TreeHash
	_, err = s.tree(s.Root)
	return err
}

// Close closes the connection to the server.
func (s *Snapshot) Close() { s.reader.Close() }

// tree returns the entries of a tree, and fetches it if needed.
func (s *Snapshot) tree(h plumbing.Hash) ([]entry, error) {
	if entries, ok := s.trees[h]; ok {
		return entries, nil
	}
	if err := s.fetch([]plumbing.Hash{h}, filterAll); err != nil {
		return nil, err
	}
	raw, ok := s.raw(plumbing.TreeObject, h)
	if !ok {
		return nil, fmt.Errorf("%w: %s is missing", gitobject.ErrBadTree, h)
	}
	entries, err := gitobject.ParseTree[plumbing.Hash](raw)
	if err != nil {
		return nil, err
	}
	s.trees[h] = entries
	return entries, nil
}

// fetch fetches the objects that are not in the store. If the server does not serve them by hash, it fetches the
// whole commit.
func (s *Snapshot) fetch(wants []plumbing.Hash, filter packp.Filter) error {
	wants = slices.DeleteFunc(wants, func(h plumbing.Hash) bool {
		_, here := s.store[h]
		return here || h.IsZero()
	})
	if len(wants) == 0 {
		return nil
	}
	slices.SortFunc(wants, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	err := s.reader.Fetch(gitremote.FetchRequest{Wants: slices.Compact(wants), Filter: filter}, s.store)
	if !errors.Is(err, gitremote.ErrObjectNotServed) {
		return err
	}
	if filter != "" {
		filter = filterBlobs
	}
	return s.reader.Fetch(gitremote.FetchRequest{Wants: []plumbing.Hash{s.Commit}, Depth: 1, Filter: filter}, s.store)
}

// Load fetches all trees below the paths at once. It skips paths that are not folders.
func (s *Snapshot) Load(paths ...string) error {
	var trees []plumbing.Hash
	for _, path := range paths {
		at, ok, err := s.find(path)
		if err != nil {
			return err
		}
		if ok && at.IsTree() {
			trees = append(trees, at.Hash)
		}
	}
	return s.fetchSubtrees(trees)
}

// fetchSubtrees fetches all trees below the given trees.
func (s *Snapshot) fetchSubtrees(trees []plumbing.Hash) error {
	var wants []plumbing.Hash
	for _, h := range trees {
		if h.IsZero() {
			continue
		}
		missing, err := s.missingSubtrees(h)
		if err != nil {
			return err
		}
		wants = append(wants, missing...)
	}
	return s.fetch(wants, filterBlobs)
}

// missingSubtrees returns the topmost trees below a tree that are not in the store.
func (s *Snapshot) missingSubtrees(tree plumbing.Hash) (missing []plumbing.Hash, err error) {
	if _, here := s.store[tree]; !here {
		return []plumbing.Hash{tree}, nil
	}
	entries, err := s.tree(tree)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsTree() {
			continue
		}
		below, err := s.missingSubtrees(e.Hash)
		if err != nil {
			return nil, err
		}
		missing = append(missing, below...)
	}
	return missing, nil
}

// raw returns the content of an object in the store.
func (s *Snapshot) raw(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, bool) {
	o, ok := s.store[h]
	return o.Content, ok && o.Kind == kind
}

// commitAt decodes a commit in the store.
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

// CommitInfo returns the message and the parents of the snapshot's commit.
func (s *Snapshot) CommitInfo() (message string, parents []plumbing.Hash, err error) {
	commit, ok, err := s.commitAt(s.Commit)
	if err != nil || !ok {
		return "", nil, err
	}
	return commit.Message, commit.ParentHashes, nil
}

// CommitTime returns the time of the snapshot's commit, as its committer says.
func (s *Snapshot) CommitTime() (time.Time, error) {
	commit, ok, err := s.commitAt(s.Commit)
	if err != nil || !ok {
		return time.Time{}, err
	}
	return commit.Committer.When, nil
}

// find looks up a path. The root is a tree without a name.
func (s *Snapshot) find(path string) (found entry, ok bool, err error) {
	names, invalid := splitPath(path)
	if invalid != nil || s.Root.IsZero() {
		return entry{}, false, nil //nolint:nilerr // Git has no such path
	}
	return s.findBelow(s.Root, names)
}

// findBelow looks up a path from a tree.
func (s *Snapshot) findBelow(tree plumbing.Hash, names []string) (found entry, ok bool, err error) {
	at := entry{Mode: gitobject.ModeTree, Hash: tree}
	for _, name := range names {
		if !at.IsTree() {
			return entry{}, false, nil
		}
		entries, err := s.tree(at.Hash)
		if err != nil {
			return entry{}, false, err
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.Name == name })
		if i < 0 {
			return entry{}, false, nil
		}
		at = entries[i]
	}
	return at, true, nil
}

// list returns the entries of a folder, or none if the path is not a folder.
func (s *Snapshot) list(path string) ([]entry, error) {
	at, ok, err := s.find(path)
	if err != nil || !ok || !at.IsTree() {
		return nil, err
	}
	return s.tree(at.Hash)
}

// Folders returns the folders directly below a path ("." for the root), by name, with the hashes of their trees. It
// returns none if the path is not a folder.
func (s *Snapshot) Folders(path string) (map[string]plumbing.Hash, error) {
	entries, err := s.list(path)
	folders := map[string]plumbing.Hash{}
	for _, e := range entries {
		if e.IsTree() {
			folders[e.Name] = e.Hash
		}
	}
	return folders, err
}

// NonFolders returns the names of the other entries directly below a path: files, links, submodules.
func (s *Snapshot) NonFolders(path string) (names []string, err error) {
	entries, err := s.list(path)
	for _, e := range entries {
		if !e.IsTree() {
			names = append(names, e.Name)
		}
	}
	return names, err
}

// Entry returns the entry at a path. ok is false if there is none.
func (s *Snapshot) Entry(path string) (e object.TreeEntry, ok bool, err error) {
	found, ok, err := s.find(path)
	if err != nil || !ok {
		return object.TreeEntry{}, false, err
	}
	return treeEntry(found), true, nil
}

// Walk calls visit for everything below a path that is not a folder (files, links, submodules), in byte order of the
// paths, which are relative to the root. It stops at the first error of visit and returns it.
func (s *Snapshot) Walk(path string, visit func(path string, e object.TreeEntry) error) error {
	at, ok, err := s.find(path)
	if err != nil || !ok || !at.IsTree() {
		return err
	}
	prefix := ""
	if path != "." {
		prefix = path + "/"
	}
	return s.walk(at.Hash, prefix, visit)
}

func (s *Snapshot) walk(tree plumbing.Hash, prefix string, visit func(string, object.TreeEntry) error) error {
	entries, err := s.tree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsTree() {
			err = s.walk(e.Hash, prefix+e.Name+"/", visit)
		} else {
			err = visit(prefix+e.Name, treeEntry(e))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errNotSent means that the server's answer lacks a requested object.
var errNotSent = errors.New("the server did not send this object")

// ErrNoFile means that the branch has no file at a path.
var ErrNoFile = errors.New("no such file on the branch")

// ReadFile returns the content of a file, and fetches it if needed. If there is no such file, the error is
// [ErrNoFile].
func (s *Snapshot) ReadFile(path string) ([]byte, error) {
	files, err := s.ReadFiles([]string{path})
	if err != nil {
		return nil, err
	}
	content, ok := files[path]
	if !ok {
		return nil, &PathError{Path: path, Err: ErrNoFile}
	}
	return content, nil
}

// ReadFiles returns the contents of files, fetched together, by path. Paths without a file are left out.
func (s *Snapshot) ReadFiles(paths []string) (map[string][]byte, error) {
	found := map[string]plumbing.Hash{}
	var wants []plumbing.Hash
	for _, path := range paths {
		e, ok, err := s.find(path)
		if err != nil {
			return nil, err
		}
		if !ok || e.IsTree() || e.Mode == gitobject.ModeModule {
			continue
		}
		found[path] = e.Hash
		wants = append(wants, e.Hash)
	}
	if err := s.fetch(wants, ""); err != nil {
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
