package gitbranch

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// maxSearched limits the folders that [Snapshot.FoldersWith] searches. The number of objects does not limit them, since
// a tree can contain the same subtree many times.
const maxSearched = 1 << 20

// ErrTooManyFolders means that a branch has too many folders to search.
var ErrTooManyFolders = errors.New("too many folders")

// FoldersWith returns the folders that contain a file at a path relative to them, sorted; "." is the root. It does not
// search below a folder that it returns, nor folders whose names are invalid. It fetches the folders of one level
// together.
func (s *Snapshot) FoldersWith(file string) (found []string, err error) {
	names, err := splitPath(file)
	if err != nil || s.Root.IsZero() {
		return nil, err
	}
	f := folderSearch{snapshot: s, file: names, known: map[plumbing.Hash]searchedTree{}}
	for level := []searchedFolder{{".", s.Root}}; len(level) > 0; {
		if err := s.objects.reader.Context().Err(); err != nil {
			return nil, err
		}
		var below []searchedFolder
		for _, at := range level {
			below, err = f.search(at, below)
			if err != nil {
				return nil, s.folderError(at.path, err)
			}
		}
		trees := lists.Map(below, func(at searchedFolder) plumbing.Hash { return at.tree })
		if err := s.objects.fetch(trees, filterAll); err != nil {
			return nil, err
		}
		level = below
	}
	slices.Sort(f.found)
	return f.found, nil
}

// folderSearch searches folders for a file. It looks into each tree once.
type folderSearch struct {
	snapshot *Snapshot
	file     []string // the names of its path
	known    map[plumbing.Hash]searchedTree
	searched int      // folders, see pathUnit
	found    []string // the folders that contain the file
}

type searchedFolder struct {
	path string
	tree plumbing.Hash
}

type searchedTree struct {
	found   bool
	folders []entry // to search, unless the file was found
}

// search looks for the file in a folder, and adds the folders to search next to below.
func (f *folderSearch) search(at searchedFolder, below []searchedFolder) ([]searchedFolder, error) {
	tree, known := f.known[at.tree]
	if !known {
		var err error
		tree, err = f.searchTree(at.tree)
		if err != nil {
			return nil, err
		}
		f.known[at.tree] = tree
	}
	if tree.found {
		f.found = append(f.found, at.path)
	}
	for _, e := range tree.folders {
		next := searchedFolder{path.Join(at.path, e.Name), e.Hash}
		f.searched += 1 + len(next.path)/pathUnit
		if f.searched > maxSearched {
			return nil, fmt.Errorf("%w: more than %d", ErrTooManyFolders, maxSearched)
		}
		below = append(below, next)
	}
	return below, nil
}

func (f *folderSearch) searchTree(tree plumbing.Hash) (searchedTree, error) {
	here, ok, err := f.snapshot.objects.findBelow(tree, f.file)
	if err != nil || ok && !here.IsTree() {
		return searchedTree{found: err == nil}, err
	}
	entries, err := f.snapshot.objects.tree(tree)
	below := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		return !e.IsTree() || gitobject.CheckName(e.Name) != nil
	})
	return searchedTree{folders: below}, err
}
