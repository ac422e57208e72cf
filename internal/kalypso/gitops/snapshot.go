package gitops

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Snapshot is a branch as it was at one commit. Its trees and the contents of
// its files are fetched when they are asked for; [Snapshot.Load] fetches many at
// once. What can't be fetched, or is broken, is an error of the call that asked
// for it. A branch that is absent has an empty snapshot. A snapshot is not safe
// for concurrent use, and lasts as long as the context it was made with.
type Snapshot struct {
	Commit plumbing.Hash // zero: the branch is absent
	Root   plumbing.Hash // the root tree; zero: the branch is absent

	reader  fetcher
	store   gitremote.Objects
	trees   map[plumbing.Hash][]entry
	written gitremote.Objects // by an edit: the trees above its folders
}

// newSnapshot is a commit of which the objects in store are there already; it
// keeps there what it fetches.
func newSnapshot(commit plumbing.Hash, reader fetcher, store gitremote.Objects) *Snapshot {
	return &Snapshot{
		Commit: commit, reader: reader, store: store,
		trees: map[plumbing.Hash][]entry{}, written: gitremote.Objects{},
	}
}

// fetcher is a conversation with a server: a [gitremote.Reader], or a [Repo].
type fetcher interface {
	Fetch(req gitremote.FetchRequest, into gitremote.Objects) error
	Close()
}

// start fetches the commit without what the filter leaves out, and its root tree.
func (s *Snapshot) start(filter packp.Filter) error {
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

// Close ends the conversation with the server.
func (s *Snapshot) Close() { s.reader.Close() }

// tree is the entries of a tree, fetched where it is not there yet.
func (s *Snapshot) tree(h plumbing.Hash) ([]entry, error) {
	if entries, ok := s.trees[h]; ok {
		return entries, nil
	}
	if err := s.bring([]plumbing.Hash{h}, filterAll); err != nil {
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

// bring fetches objects by their names, those that are there left out. A server
// that does not give them so is asked for the whole commit.
func (s *Snapshot) bring(wants []plumbing.Hash, filter packp.Filter) error {
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

// Load fetches all the trees below the paths at once. A path that is no folder
// is skipped.
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
	return s.bringBelow(trees)
}

// bringBelow fetches all the trees below the trees named.
func (s *Snapshot) bringBelow(trees []plumbing.Hash) error {
	var wants []plumbing.Hash
	for _, h := range trees {
		if h.IsZero() {
			continue
		}
		missing, err := s.missingBelow(h)
		if err != nil {
			return err
		}
		wants = append(wants, missing...)
	}
	return s.bring(wants, filterBlobs)
}

// missingBelow are the trees not fetched yet that are nearest below a tree.
func (s *Snapshot) missingBelow(tree plumbing.Hash) (missing []plumbing.Hash, err error) {
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
		below, err := s.missingBelow(e.Hash)
		if err != nil {
			return nil, err
		}
		missing = append(missing, below...)
	}
	return missing, nil
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
func (s *Snapshot) find(path string) (found entry, ok bool, err error) {
	names, err := splitPath(path)
	if err != nil || s.Root.IsZero() {
		return entry{}, false, nil
	}
	at := entry{Mode: gitobject.ModeTree, Hash: s.Root}
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

// list is the entries of the folder at a path. A path that is no folder has none.
func (s *Snapshot) list(path string) ([]entry, error) {
	at, ok, err := s.find(path)
	if err != nil || !ok || !at.IsTree() {
		return nil, err
	}
	return s.tree(at.Hash)
}

// Folders are the folders directly below a path ("." for the root), by name,
// with the hashes of their trees. A path that is no folder has none.
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

// Others are the names of what lies directly below a path and is no folder:
// files, links, submodules.
func (s *Snapshot) NonFolders(path string) (names []string, err error) {
	entries, err := s.list(path)
	for _, e := range entries {
		if !e.IsTree() {
			names = append(names, e.Name)
		}
	}
	return names, err
}

// Entry is what lies at a path; ok is false where nothing does.
func (s *Snapshot) Entry(path string) (e object.TreeEntry, ok bool, err error) {
	found, ok, err := s.find(path)
	if err != nil || !ok {
		return object.TreeEntry{}, false, err
	}
	return treeEntry(found), true, nil
}

// Walk visits everything below a path that is no folder (files, links,
// submodules), in the byte order of the paths, which are from the root. It ends
// with the first error of visit, and returns that.
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

// errNotSent: the server answered without what was asked for.
var errNotSent = errors.New("the server did not send it")

// ErrNoFile means that there is no file at a path of the branch.
var ErrNoFile = errors.New("no such file on the branch")

// ReadFile is the content of a file, fetched where it is not there yet. Where
// there is none, the error is [ErrNoFile].
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

// ReadFiles are the contents of files, fetched together. A path without a file
// has no key.
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
	if err := s.bring(wants, ""); err != nil {
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
