package branch

import (
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
)

// errOrder means that files are out of order, or that a file and a folder have the same name.
var errOrder = errors.New("not in byte order of the paths, or a duplicate")

// treeBuilder builds trees from files in byte order of their paths, which is Git's order. It keeps the trees above
// the last file open.
type treeBuilder struct {
	packWriter *packWriter
	open       []openTree // open[0] is the folder itself
	last       string
	raw        []byte
}

type openTree struct {
	name    string
	entries []entry
}

func (t *treeBuilder) add(path string, blob plumbing.Hash) error {
	names, err := splitPath(path)
	if err != nil {
		return err
	}
	if len(names) == 0 || path <= t.last {
		return &PathError{Path: path, Err: errOrder}
	}
	t.last = path
	if t.open == nil {
		t.open = []openTree{{}}
	}
	dirs, name := names[:len(names)-1], names[len(names)-1]
	same := 0
	for same < len(dirs) && same+1 < len(t.open) && t.open[same+1].name == dirs[same] {
		same++
	}
	if err := t.closeTo(same + 1); err != nil {
		return err
	}
	for _, d := range dirs[same:] {
		t.open = append(t.open, openTree{name: d})
	}
	top := &t.open[len(t.open)-1]
	top.entries = append(top.entries, entry{Mode: gitobject.ModeFile, Name: name, Hash: blob})
	return nil
}

// closeTo writes the open trees down to a depth.
func (t *treeBuilder) closeTo(depth int) error {
	for len(t.open) > depth {
		done := t.open[len(t.open)-1]
		h, err := t.write(done)
		if err != nil {
			return err
		}
		t.open = t.open[:len(t.open)-1]
		top := &t.open[len(t.open)-1]
		// Only entries whose names start with done.name sort between a file and a folder of that name. So the search ends at
		// the first other entry.
		for i := len(top.entries) - 1; i >= 0 && strings.HasPrefix(top.entries[i].Name, done.name); i-- {
			if top.entries[i].Name == done.name {
				return &PathError{Path: done.name, Err: errOrder}
			}
		}
		top.entries = append(top.entries, entry{Mode: gitobject.ModeTree, Name: done.name, Hash: h})
	}
	return nil
}

func (t *treeBuilder) write(l openTree) (plumbing.Hash, error) {
	t.raw = gitobject.AppendTree(t.raw[:0], l.entries)
	return t.packWriter.add(plumbing.TreeObject, t.raw)
}

// finish adds folders to the files and returns the hash of the whole tree, or zero if it is empty.
func (t *treeBuilder) finish(folders []FolderContent) (plumbing.Hash, error) {
	if t.open == nil {
		t.open = []openTree{{}}
	}
	if err := t.closeTo(1); err != nil {
		return plumbing.ZeroHash, err
	}
	top := &t.open[0]
	taken := make(map[string]bool, len(top.entries))
	for _, e := range top.entries {
		taken[e.Name] = true
	}
	for _, f := range folders {
		names, err := splitPath(f.Path)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if len(names) != 1 || taken[f.Path] {
			return plumbing.ZeroHash, &PathError{Path: f.Path, Err: errOrder}
		}
		taken[f.Path] = true
		if !f.isEmpty() {
			top.entries = append(top.entries, entry{Mode: gitobject.ModeTree, Name: f.Path, Hash: f.Hash})
		}
	}
	if len(top.entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	gitobject.SortTree(top.entries)
	return t.write(*top)
}
