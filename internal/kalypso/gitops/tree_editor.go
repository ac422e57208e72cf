package gitops

import (
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// ErrFileFolderConflict means that an edit would write a folder where the branch has a
// file, or a file where it has a folder, and does not remove that.
var ErrFileFolderConflict = errors.New("the branch has something of another kind there, or above it")

// overlay is a tree of a branch with changes on top. Only what changes is read
// and written.
type overlay struct {
	snapshot *Snapshot
	items    map[string]*item
	changed  bool
}

type item struct {
	entry
	dir *overlay // where the folder was opened
}

func (s *Snapshot) overlay(tree plumbing.Hash) (*overlay, error) {
	entries, err := s.tree(tree)
	if err != nil {
		return nil, err
	}
	o := &overlay{snapshot: s, items: make(map[string]*item, len(entries))}
	for _, e := range entries {
		o.items[e.Name] = &item{entry: e}
	}
	return o, nil
}

func (o *overlay) into(i *item) (dir *overlay, err error) {
	if i.dir == nil {
		i.dir, err = o.snapshot.overlay(i.Hash)
	}
	return i.dir, err
}

// remove takes away what lies at a path, and reports whether anything did.
func (o *overlay) remove(names []string) (bool, error) {
	i, ok := o.items[names[0]]
	switch {
	case !ok:
		return false, nil
	case len(names) == 1:
		delete(o.items, names[0])
	case !i.IsTree():
		return false, nil
	default:
		dir, err := o.into(i)
		if err != nil {
			return false, err
		}
		if removed, err := dir.remove(names[1:]); err != nil || !removed {
			return false, err
		}
	}
	o.changed = true
	return true, nil
}

// set puts an entry at a path.
func (o *overlay) set(names []string, mode string, hash plumbing.Hash) error {
	name := names[0]
	i, ok := o.items[name]
	if len(names) == 1 {
		if ok && i.IsTree() != (mode == gitobject.ModeTree) {
			return ErrFileFolderConflict
		}
		o.items[name] = &item{entry: entry{Mode: mode, Name: name, Hash: hash}}
		o.changed = true
		return nil
	}
	if ok && !i.IsTree() {
		return ErrFileFolderConflict
	}
	if !ok {
		i = &item{entry: entry{Mode: gitobject.ModeTree, Name: name}, dir: &overlay{snapshot: o.snapshot, items: map[string]*item{}}}
		o.items[name] = i
	}
	dir, err := o.into(i)
	if err != nil {
		return err
	}
	o.changed = true
	return dir.set(names[1:], mode, hash)
}

// write packs the trees that changed and gives the root's hash; zero where it
// is empty. A folder that a change left empty is gone.
func (o *overlay) write(w *packer) (plumbing.Hash, error) {
	entries := make([]entry, 0, len(o.items))
	for _, i := range o.items {
		if i.dir != nil && i.dir.changed {
			h, err := i.dir.write(w)
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
	o.snapshot.written[h] = gitremote.Object{Kind: plumbing.TreeObject, Content: raw}
	return h, err
}
