package gitbranch

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// ErrFileFolderConflict means that an edit writes a folder where the branch has a file, or a file where the branch has
// a folder, without removing the existing one.
var ErrFileFolderConflict = errors.New("the branch has a file where the edit needs a folder, or the other way round")

// treeEditor is a tree of the branch with pending changes. It reads and writes only the trees that change.
type treeEditor struct {
	objects *objects // of the branch
	items   map[string]*editedEntry
	changed bool
}

type editedEntry struct {
	entry
	dir *treeEditor // set if the folder was opened
}

// editTree returns an editor of a tree of the branch, or of a new one if the hash is zero.
func editTree(o *objects, tree plumbing.Hash) (*treeEditor, error) {
	editor := &treeEditor{objects: o, items: map[string]*editedEntry{}}
	if tree.IsZero() {
		return editor, nil
	}
	entries, err := o.tree(tree)
	for _, e := range entries {
		if editor.items[e.Name] != nil { // to write the tree would drop one of them
			return nil, fmt.Errorf("%w: tree %s has two entries with the name %q", gitobject.ErrBadTree, tree, e.Name)
		}
		editor.items[e.Name] = &editedEntry{entry: e}
	}
	return editor, err
}

func (e *treeEditor) openDir(i *editedEntry) (dir *treeEditor, err error) {
	if i.dir == nil {
		i.dir, err = editTree(e.objects, i.Hash)
	}
	return i.dir, err
}

// remove removes a path if it exists.
func (e *treeEditor) remove(names []string) error {
	i, ok := e.items[names[0]]
	switch {
	case !ok, len(names) > 1 && !i.IsTree():
		return nil
	case len(names) == 1:
		delete(e.items, names[0])
		e.changed = true
		return nil
	}
	dir, err := e.openDir(i)
	if err == nil {
		err = dir.remove(names[1:])
		e.changed = e.changed || dir.changed
	}
	return err
}

// setPath puts an entry at a path.
func (e *treeEditor) setPath(path, mode string, hash plumbing.Hash) error {
	names, err := splitPath(path)
	if err == nil && len(names) == 0 {
		err = &PathError{Path: path, Err: gitobject.ErrName}
	}
	if err != nil {
		return err
	}
	if err := e.set(names, mode, hash); err != nil {
		return &PathError{Path: path, Err: err}
	}
	return nil
}

// set puts an entry at the names of a path.
func (e *treeEditor) set(names []string, mode string, hash plumbing.Hash) error {
	name := names[0]
	i, ok := e.items[name]
	if len(names) == 1 {
		if ok && i.IsTree() != (mode == gitobject.ModeTree) {
			return ErrFileFolderConflict
		}
		e.items[name] = &editedEntry{entry: entry{Mode: mode, Name: name, Hash: hash}}
		e.changed = true
		return nil
	}
	if ok && !i.IsTree() {
		return ErrFileFolderConflict
	}
	if !ok {
		i = &editedEntry{entry: entry{Mode: gitobject.ModeTree, Name: name}}
		e.items[name] = i
	}
	dir, err := e.openDir(i)
	if err != nil {
		return err
	}
	e.changed = true
	return dir.set(names[1:], mode, hash)
}

// write packs the changed trees, adds them to written unless it is nil, and returns the hash of the root, or zero if it
// is empty. It drops folders that became empty.
func (e *treeEditor) write(w *packWriter, written gitremote.Objects) (plumbing.Hash, error) {
	entries := make([]entry, 0, len(e.items))
	for _, i := range e.items {
		if i.dir != nil && i.dir.changed {
			h, err := i.dir.write(w, written)
			if err != nil {
				return plumbing.ZeroHash, err
			}
			if h.IsZero() {
				continue
			}
			i.Hash = h
		}
		entries = append(entries, i.entry)
	}
	if len(entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	gitobject.SortTree(entries)
	raw := gitobject.AppendTree(nil, entries)
	h, err := w.add(plumbing.TreeObject, raw)
	if written != nil {
		written[h] = gitremote.Object{Kind: plumbing.TreeObject, Content: raw}
	}
	return h, err
}
