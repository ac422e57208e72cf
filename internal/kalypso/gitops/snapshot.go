package gitops

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Snapshot is a branch as it was at one commit. Its trees and the contents of
// its files are fetched when they are asked for; [Snapshot.Load] fetches many at
// once. What can't be fetched or is broken reads as if it were not there, and
// [Snapshot.Err] tells. A branch that is absent has an empty snapshot. It is not
// safe for concurrent use, and lasts as long as the context it was made with.
type Snapshot struct {
	Commit plumbing.Hash // zero: the branch is absent
	Root   plumbing.Hash // the root tree; zero: the branch is absent

	reader  fetcher
	store   gitremote.Objects
	trees   map[plumbing.Hash][]entry
	written gitremote.Objects // by an edit: the trees above its folders
	err     error
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
	s.tree(s.Root)
	return s.err
}

// Close ends the conversation with the server.
func (s *Snapshot) Close() { s.reader.Close() }

// Err is the first error of what was read so far.
func (s *Snapshot) Err() error { return s.err }

// tree is the entries of a tree, fetched where it is not there yet.
func (s *Snapshot) tree(h plumbing.Hash) []entry {
	if entries, ok := s.trees[h]; ok {
		return entries
	}
	s.bring([]plumbing.Hash{h}, filterAll)
	if s.err != nil {
		return nil
	}
	raw, ok := s.raw(plumbing.TreeObject, h)
	if !ok {
		s.err = fmt.Errorf("%w: %s is missing", errBadTree, h)
		return nil
	}
	entries, err := parseTree(raw)
	if err != nil {
		s.err = err
		return nil
	}
	s.trees[h] = entries
	return entries
}

// bring fetches objects by their names, those that are there left out. A server
// that does not give them so is asked for the whole commit.
func (s *Snapshot) bring(wants []plumbing.Hash, filter packp.Filter) {
	wants = slices.DeleteFunc(wants, func(h plumbing.Hash) bool {
		_, here := s.store[h]
		return here || h.IsZero()
	})
	if len(wants) == 0 || s.err != nil {
		return
	}
	slices.SortFunc(wants, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	s.err = s.reader.Fetch(gitremote.FetchRequest{Wants: slices.Compact(wants), Filter: filter}, s.store)
	if errors.Is(s.err, gitremote.ErrObjectNotServed) {
		if filter != "" {
			filter = filterBlobs
		}
		s.err = s.reader.Fetch(gitremote.FetchRequest{Wants: []plumbing.Hash{s.Commit}, Depth: 1, Filter: filter}, s.store)
	}
}

// Load fetches all the trees below the paths at once. A path that is no folder
// is passed over.
func (s *Snapshot) Load(paths ...string) {
	var trees []plumbing.Hash
	for _, path := range paths {
		if at, ok := s.find(path); ok && at.isTree() {
			trees = append(trees, at.hash)
		}
	}
	s.bringBelow(trees)
}

// bringBelow fetches all the trees below the trees named.
func (s *Snapshot) bringBelow(trees []plumbing.Hash) {
	var wants []plumbing.Hash
	for _, h := range trees {
		if !h.IsZero() {
			wants = append(wants, s.missingBelow(h)...)
		}
	}
	s.bring(wants, filterBlobs)
}

// missingBelow are the trees not fetched yet that are nearest below a tree.
func (s *Snapshot) missingBelow(tree plumbing.Hash) (missing []plumbing.Hash) {
	if _, here := s.store[tree]; !here {
		return []plumbing.Hash{tree}
	}
	for _, e := range s.tree(tree) {
		if e.isTree() {
			missing = append(missing, s.missingBelow(e.hash)...)
		}
	}
	return missing
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
		for _, e := range s.tree(at.hash) {
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
		for _, e := range s.tree(at.hash) {
			if e.isTree() {
				folders[e.name] = e.hash
			}
		}
	}
	return folders
}

// Others are the names of what lies directly below a path and is no folder:
// files, links, submodules.
func (s *Snapshot) Others(path string) []string {
	var names []string
	if at, ok := s.find(path); ok && at.isTree() {
		for _, e := range s.tree(at.hash) {
			if !e.isTree() {
				names = append(names, e.name)
			}
		}
	}
	return names
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
	for _, e := range s.tree(tree) {
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
		e, ok := s.find(path)
		if !ok || e.isTree() || e.mode == modeModule {
			continue
		}
		found[path] = e.hash
		wants = append(wants, e.hash)
	}
	if s.bring(wants, ""); s.err != nil {
		return nil, s.err
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
