package branch

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxSearched limits the folders that [Snapshot.FoldersWith] searches. The number of objects does not limit them, since
// a tree can contain the same subtree many times.
const maxSearched = 1 << 20

// ErrTooManyFolders means that a branch has too many folders to search.
var ErrTooManyFolders = errors.New("too many folders")

// FoldersWith returns the folders that contain a file at a path relative to them, sorted; "." is the root. It does not
// search below a folder that it returns. It fetches the folders of one level together.
func (s *Snapshot) FoldersWith(file string) (found []string, err error) {
	names, err := splitPath(file)
	if err != nil || s.Root.IsZero() {
		return nil, err
	}
	type folder struct {
		path string
		tree plumbing.Hash
	}
	level := []folder{{".", s.Root}}
	for searched := 1; len(level) > 0; searched += len(level) {
		if searched > maxSearched {
			return nil, fmt.Errorf("%w: more than %d", ErrTooManyFolders, maxSearched)
		}
		var below []folder
		var trees []plumbing.Hash
		for _, at := range level {
			here, ok, err := s.objects.findBelow(at.tree, names)
			if err != nil {
				return nil, err
			}
			if ok && !here.IsTree() {
				found = append(found, at.path)
				continue
			}
			entries, err := s.objects.tree(at.tree)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.IsTree() {
					below, trees = append(below, folder{path.Join(at.path, e.Name), e.Hash}), append(trees, e.Hash)
				}
			}
		}
		if err := s.objects.fetch(trees, filterAll); err != nil {
			return nil, err
		}
		level = below
	}
	slices.Sort(found)
	return found, nil
}
