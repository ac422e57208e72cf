package branch

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// changedFolder is a folder of an edit that differs on the branch.
type changedFolder struct {
	FolderContent
	old plumbing.Hash // the tree on the branch; zero: none
}

// If more than manyTrees trees are missing, and their parents contain few other trees, the parents' whole subtrees are
// fetched. If the missing trees have at most fewTrees subfolders, their whole subtrees are fetched too, which saves a
// round trip.
const (
	manyTrees = 256
	fewTrees  = 1024
)

// changedFolders finds the folders of the edit that differ from the branch, and their differing subfolders, level by
// level. It leaves out folders that are [FolderContent.Stored]. It also fetches the trees of these folders on the
// branch, so that the objects in them are not packed again.
func (c commitBuilder) changedFolders() ([]FolderContent, error) {
	var all []FolderContent
	var level []changedFolder
	for _, f := range c.edit.Folders {
		if f.Stored {
			continue
		}
		at, there, err := c.onto.find(f.Path)
		if err != nil {
			return nil, err
		}
		level = appendChanged(level, f, at, there)
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
		if level, children, err = c.changedSubfolders(level); err != nil {
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
	var wants, missing []plumbing.Hash
	within := 0 // desired subfolders of the missing folders
	objects := c.onto.objects
	for _, d := range level {
		wants = append(wants, d.old)
		if _, here := objects.store[d.old]; !here && !d.old.IsZero() {
			missing, within = append(missing, d.old), within+len(d.Folders)
		}
	}
	var err error
	switch {
	case len(wants) > manyTrees && 4*len(wants) > children:
		err = objects.fetchSubtrees(above)
	case within > 0 && within <= fewTrees:
		err = objects.fetchSubtrees(missing)
	}
	if err == nil {
		err = objects.fetch(slices.Clone(wants), filterAll)
	}
	return wants, err
}

// changedSubfolders returns the subfolders that differ, and the number of entries of their parents on the branch.
func (c commitBuilder) changedSubfolders(level []changedFolder) (next []changedFolder, children int, err error) {
	for _, d := range level {
		if len(d.Folders) == 0 {
			continue
		}
		there := map[string]entry{}
		if !d.old.IsZero() {
			entries, err := c.onto.objects.tree(d.old)
			if err != nil {
				return nil, 0, err
			}
			for _, e := range entries {
				there[e.Name] = e
			}
			children += len(there)
		}
		for _, f := range d.Folders {
			if !f.Stored {
				at, ok := there[f.Path]
				next = appendChanged(next, f, at, ok)
			}
		}
	}
	return next, children, nil
}

func appendChanged(all []changedFolder, f FolderContent, at entry, there bool) []changedFolder {
	switch {
	case there && at.IsTree() && at.Hash == f.Hash:
		return all
	case there && at.IsTree():
		return append(all, changedFolder{f, at.Hash})
	}
	return append(all, changedFolder{f, plumbing.ZeroHash})
}
