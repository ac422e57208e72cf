package gitbranch

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
)

// The bounds of a walk. The size of what a server sends does not bound it: a tree may list another one twice, which
// again lists another one twice, so that a few small trees have more paths than a program can visit.
const (
	// maxWalked bounds the entries of a walk, if [gitremote.ReadLimits] does not. The Linux kernel has about 100,000
	// files and folders.
	maxWalked = 4_000_000
	// maxWalkedPath bounds the length of a path, in bytes, and so the depth. Linux opens no longer paths.
	maxWalkedPath = 4096
	// pathUnit is the part of a path that counts as one entry, in bytes. Long paths count as several entries, so that
	// they fill no memory.
	pathUnit = 128
)

// The errors of a walk, which is an [*FolderError].
var (
	ErrTooManyEntries = errors.New("it has too many files and folders")
	ErrPathTooLong    = fmt.Errorf("it has paths of more than %d bytes", maxWalkedPath)
)

// FolderError means that a folder can't be read to its end: see [gitobject.ErrBadTree], [ErrTooManyEntries],
// [ErrPathTooLong].
type FolderError struct {
	Repo   string
	Commit plumbing.Hash
	Folder string
	Err    error
}

func (e *FolderError) Error() string {
	return fmt.Sprintf("folder %s of %s at commit %s: %v", quote(e.Folder), e.Repo, e.Commit, e.Err)
}

func (e *FolderError) Unwrap() error { return e.Err }

// Walker visits what is below the paths of a snapshot. Its bounds apply to all its walks together. It visits a tree at
// each of its paths, since its callers need the paths: two teams may have the same files, and each file is an object of
// its own. If only some paths matter, [Snapshot.Find] and [Snapshot.FoldersWith] look into each tree once.
type Walker struct {
	snapshot *Snapshot
	bound    int // of entries
	visited  int // entries, see pathUnit
}

// Walker returns a walker of the snapshot.
func (s *Snapshot) Walker() *Walker { return &Walker{snapshot: s, bound: s.maxEntries()} }

// maxEntries returns the number of entries that may be visited together.
func (s *Snapshot) maxEntries() int {
	if entries := s.objects.reader.Limits().Entries; entries > 0 {
		return entries
	}
	return maxWalked
}

// Walk calls visit for everything below a path that is not a folder (files, links, submodules), in byte order of the
// paths, which are relative to the root. It stops at the first error of visit and returns it. The error of a folder
// that has a name that Git refuses, or that exceeds the bounds, is a [*FolderError].
func (w *Walker) Walk(path string, visit func(path string, e object.TreeEntry) error) error {
	at, ok, err := w.snapshot.find(path)
	if err != nil || !ok || !at.IsTree() {
		return err
	}
	prefix := ""
	if path != "." {
		prefix = path + "/"
	}
	return w.walk(at.Hash, prefix, visit)
}

func (w *Walker) walk(tree plumbing.Hash, prefix string, visit func(string, object.TreeEntry) error) error {
	entries, err := w.snapshot.objects.validTree(tree)
	if err != nil {
		return w.snapshot.folderError(prefix, err)
	}
	for _, e := range entries {
		if err := w.count(len(prefix) + len(e.Name)); err != nil {
			return w.snapshot.folderError(prefix, err)
		}
		if e.IsTree() {
			err = w.walk(e.Hash, prefix+e.Name+"/", visit)
		} else {
			err = visit(prefix+e.Name, treeEntry(e))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count counts an entry whose path has a length.
func (w *Walker) count(length int) error {
	before := w.visited
	w.visited += 1 + length/pathUnit
	const often = 1024
	switch {
	case length > maxWalkedPath:
		return ErrPathTooLong
	case w.visited > w.bound:
		return fmt.Errorf("%w: more than %d, each counted at all of its paths", ErrTooManyEntries, w.bound)
	case before/often < w.visited/often:
		return w.snapshot.objects.reader.Context().Err()
	}
	return nil
}

// isFolderFault reports whether an error is a fault of a folder's content, and not of the server or the connection.
func isFolderFault(err error) bool {
	return errors.Is(err, gitobject.ErrBadTree) || errors.Is(err, gitobject.ErrTooManyEntries) ||
		errors.Is(err, ErrTooManyEntries) || errors.Is(err, ErrPathTooLong) || errors.Is(err, ErrTooManyFolders)
}

// folderError adds the folder to an error that is the fault of its content. The folder may end with a slash.
func (s *Snapshot) folderError(folder string, err error) error {
	if err == nil || !isFolderFault(err) {
		return err
	}
	folder = cmp.Or(strings.TrimSuffix(folder, "/"), ".")
	return &FolderError{Repo: s.objects.reader.String(), Commit: s.Commit, Folder: folder, Err: err}
}

// Find returns the first paths below a folder, at most so many, whose entries match. It visits entries that are no
// folders, in the order of [Walker.Walk]. It looks into each tree once, so that it also searches a folder that is too
// large to walk. It leaves out folders whose names are invalid.
func (s *Snapshot) Find(folder string, match func(object.TreeEntry) bool, limit int) (paths []string, err error) {
	at, ok, err := s.find(folder)
	if err != nil || !ok || !at.IsTree() {
		return nil, err
	}
	matching, err := s.matchingTrees(at.Hash, match)
	if err != nil {
		return nil, s.folderError(folder, err)
	}
	w := s.Walker()
	var visit func(tree plumbing.Hash, prefix string) error
	visit = func(tree plumbing.Hash, prefix string) error {
		entries, err := s.objects.tree(tree)
		for i := 0; err == nil && i < len(entries) && len(paths) < limit; i++ {
			e := entries[i]
			switch {
			case e.IsTree() && matching[e.Hash] && gitobject.CheckName(e.Name) == nil:
				if err = w.count(len(prefix) + len(e.Name)); err == nil {
					err = visit(e.Hash, prefix+e.Name+"/")
				}
			case !e.IsTree() && match(treeEntry(e)):
				paths = append(paths, prefix+e.Name)
			}
		}
		return err
	}
	if matching[at.Hash] {
		err = visit(at.Hash, strings.TrimPrefix(folder+"/", "./"))
	}
	return paths, s.folderError(folder, err)
}

// matchingTrees returns the trees, from a tree on, that have a matching entry at any depth.
func (s *Snapshot) matchingTrees(
	root plumbing.Hash, match func(object.TreeEntry) bool,
) (map[plumbing.Hash]bool, error) {
	parents := map[plumbing.Hash][]plumbing.Hash{root: nil}
	w := s.Walker()
	var found []plumbing.Hash
	for rest := []plumbing.Hash{root}; len(rest) > 0; {
		tree := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		entries, err := s.objects.tree(tree)
		if err != nil {
			return nil, err
		}
		matches := false
		for _, e := range entries {
			if err := w.count(len(e.Name)); err != nil {
				return nil, err
			}
			if !e.IsTree() {
				matches = matches || match(treeEntry(e))
				continue
			}
			if gitobject.CheckName(e.Name) != nil {
				continue
			}
			if _, met := parents[e.Hash]; !met {
				rest = append(rest, e.Hash)
			}
			parents[e.Hash] = append(parents[e.Hash], tree)
		}
		if matches {
			found = append(found, tree)
		}
	}
	matching := map[plumbing.Hash]bool{}
	for len(found) > 0 {
		tree := found[len(found)-1]
		found = found[:len(found)-1]
		if !matching[tree] {
			matching[tree] = true
			found = append(found, parents[tree]...)
		}
	}
	return matching, nil
}
