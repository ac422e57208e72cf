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

// maxSearched limits the folders that [Snapshot.FoldersWith] searches, and the folders that it returns with the folders
// above them. The number of objects does not limit them, since a tree can contain the same subtree many times.
const maxSearched = 1 << 20

// ErrTooManyFolders means that a branch has too many folders to search.
var ErrTooManyFolders = errors.New("too many folders")

// FoldersWith returns the folders that contain a file at a path relative to them, sorted; "." is the root. It does not
// search below a folder that it returns, nor folders whose names are invalid. It looks into each tree once, so that it
// also searches a branch with a folder that is too large to walk. It fetches the folders of one level together.
func (s *Snapshot) FoldersWith(file string) (found []string, err error) {
	names, err := splitPath(file)
	if err != nil || s.Root.IsZero() {
		return nil, err
	}
	f := folderSearch{snapshot: s, file: names, trees: map[plumbing.Hash]*searchedTree{s.Root: {}}}
	if err := f.search(); err != nil {
		return nil, err
	}
	if err := f.list(".", s.Root); err != nil {
		return nil, err
	}
	slices.Sort(f.found)
	return f.found, nil
}

// folderSearch searches folders for a file.
type folderSearch struct {
	snapshot *Snapshot
	file     []string // the names of its path
	trees    map[plumbing.Hash]*searchedTree
	counted  int      // folders, see pathUnit
	found    []string // the folders that contain the file
}

// searchedFolder is a folder at the first of its paths.
type searchedFolder struct {
	path string
	tree plumbing.Hash
}

type searchedTree struct {
	found   bool            // it contains the file
	leads   bool            // it contains the file, or a folder below it does
	folders []entry         // to search, unless the file was found
	parents []plumbing.Hash // the trees that list it
}

// search looks into all trees, each once, and marks those that lead to the file.
func (f *folderSearch) search() error {
	objects := f.snapshot.objects
	var leading []plumbing.Hash
	for level := []searchedFolder{{".", f.snapshot.Root}}; len(level) > 0; {
		var below []searchedFolder
		for _, at := range level {
			tree := f.trees[at.tree]
			if err := f.searchTree(at.tree, tree); err != nil {
				return f.snapshot.folderError(at.path, err)
			}
			if tree.found {
				leading = append(leading, at.tree)
			}
			for _, e := range tree.folders {
				child, met := f.trees[e.Hash]
				if !met {
					child = &searchedTree{}
					f.trees[e.Hash] = child
					next := searchedFolder{path.Join(at.path, e.Name), e.Hash}
					if err := f.count(next.path); err != nil {
						return f.snapshot.folderError(at.path, err)
					}
					below = append(below, next)
				}
				child.parents = append(child.parents, at.tree)
			}
		}
		trees := lists.Map(below, func(at searchedFolder) plumbing.Hash { return at.tree })
		if err := objects.fetch(trees, filterAll); err != nil {
			return err
		}
		level = below
	}
	for len(leading) > 0 {
		tree := f.trees[leading[len(leading)-1]]
		leading = leading[:len(leading)-1]
		if !tree.leads {
			tree.leads = true
			leading = append(leading, tree.parents...)
		}
	}
	for _, tree := range f.trees { // so that list visits nothing that it does not count
		tree.folders = slices.DeleteFunc(tree.folders, func(e entry) bool { return !f.trees[e.Hash].leads })
	}
	return nil
}

// searchTree looks for the file in a tree.
func (f *folderSearch) searchTree(hash plumbing.Hash, tree *searchedTree) error {
	if err := f.snapshot.objects.reader.Context().Err(); err != nil {
		return err
	}
	here, ok, err := f.snapshot.objects.findBelow(hash, f.file)
	if err != nil || ok && !here.IsTree() {
		tree.found = err == nil
		return err
	}
	entries, err := f.snapshot.objects.tree(hash)
	tree.folders = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		return !e.IsTree() || gitobject.CheckName(e.Name) != nil
	})
	return err
}

// list adds the folders that contain the file: a folder, or folders below it. It visits each of their paths.
func (f *folderSearch) list(at string, hash plumbing.Hash) error {
	tree := f.trees[hash]
	if tree.found {
		f.found = append(f.found, at)
	}
	for _, e := range tree.folders {
		next := path.Join(at, e.Name)
		if err := f.count(next); err != nil {
			return f.snapshot.folderError(at, err)
		}
		if err := f.list(next, e.Hash); err != nil {
			return err
		}
	}
	return nil
}

// count counts a folder.
func (f *folderSearch) count(at string) error {
	f.counted += 1 + len(at)/pathUnit
	if f.counted > maxSearched {
		return fmt.Errorf("%w: more than %d", ErrTooManyFolders, maxSearched)
	}
	return f.snapshot.objects.reader.Context().Err()
}
