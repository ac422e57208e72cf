package gitbranch

import (
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// changedFolder is a folder of an edit that differs on the branch.
type changedFolder struct {
	FolderContent
	old plumbing.Hash // the tree on the branch; zero: none
}

// If more than manyTrees trees are missing, and their parents contain few other trees, the parents' whole subtrees are
// fetched.
const manyTrees = 256

// maxResent is the size in bytes of files that are sent again, although the branch may have some of them. To send them
// takes less time than the round trip that finds out.
const maxResent = 256 << 10

// changedFolders finds the folders of the edit that differ from the branch, and their differing subfolders, level by
// level. It leaves out folders that are [FolderContent.Stored]. It also fetches the trees of these folders on the
// branch, so that the objects in them are not packed again, except for small folders; see maxResent.
func (c commitBuilder) changedFolders() ([]FolderContent, error) {
	var all []FolderContent
	var level []changedFolder
	for _, f := range c.edit.Folders {
		at, _, err := c.onto.find(f.Path)
		if err != nil {
			return nil, err
		}
		level = appendChanged(level, f, at)
	}
	var above []plumbing.Hash
	children := 0 // of the parent folders
	for len(level) > 0 {
		wants, err := c.fetchLevel(level, above, children)
		if err != nil {
			return nil, err
		}
		for _, d := range level {
			all = append(all, d.FolderContent)
		}
		level, children, err = c.changedSubfolders(level)
		if err != nil {
			return nil, err
		}
		above = wants
	}
	return all, nil
}

// fetchLevel fetches the trees that the folders have on the branch, and returns them. above lists the trees of their
// parents, and children counts the parents' entries.
func (c commitBuilder) fetchLevel(
	level []changedFolder, above []plumbing.Hash, children int,
) ([]plumbing.Hash, error) {
	small, err := areSmall(level)
	if err != nil {
		return nil, err
	}
	var wants []plumbing.Hash
	for _, d := range level {
		if !d.old.IsZero() && (!small || len(d.Folders) > 0) {
			wants = append(wants, d.old)
		}
	}
	if len(wants) > manyTrees && 4*len(wants) > children {
		err = c.onto.objects.fetchSubtrees(above)
	}
	if err == nil {
		err = c.onto.objects.fetch(slices.Clone(wants), filterAll)
	}
	return wants, err
}

// areSmall reports whether the folders without subfolders that replace others have at most maxResent bytes together.
func areSmall(level []changedFolder) (bool, error) {
	size := 0
	for _, d := range level {
		if d.old.IsZero() || len(d.Folders) > 0 || d.Files == nil {
			continue
		}
		for file, err := range d.Files {
			if err != nil {
				return false, fmt.Errorf("folder %s: %w", quote(d.Path), err)
			}
			size += len(file.Content)
			if size > maxResent {
				return false, nil
			}
		}
	}
	return true, nil
}

// changedSubfolders returns the subfolders that differ, and the number of entries of their parents on the branch.
func (c commitBuilder) changedSubfolders(level []changedFolder) (next []changedFolder, children int, err error) {
	for _, d := range level {
		if len(d.Folders) == 0 {
			continue
		}
		there, err := c.onto.objects.children(d.old)
		if err != nil {
			return nil, 0, err
		}
		children += len(there)
		for _, f := range d.Folders {
			next = appendChanged(next, f, there[f.Path])
		}
	}
	return next, children, nil
}

// appendChanged adds a folder, unless the branch has it. at is the entry at its path on the branch, which may be zero.
func appendChanged(all []changedFolder, f FolderContent, at entry) []changedFolder {
	if f.Stored || at.IsTree() && at.Hash == f.Hash {
		return all
	}
	return append(all, changedFolder{f, treeOf(at)})
}
