package gitbranch

import (
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
)

// The bounds of the entries that are compared: for a whole history, and for each commit once these are used up. See
// maxWalked.
const (
	maxCompared          = 1_000_000
	maxComparedPerCommit = 10_000
)

// diff lists the paths that differ between two trees. It fetches only folders that differ. It stops if it has compared
// too many entries, and looks into no folder whose path is too long: then it counts fewer paths than differ.
type diff struct {
	objects *objects
	change  *ChangingCommit
	left    *int // the number of entries that may still be compared
}

// roots adds the paths below the folders that differ between two root trees. The zero tree means that there is none.
func (d diff) roots(before, after plumbing.Hash, folders []string) error {
	if len(folders) == 0 {
		return nil
	}
	if err := d.objects.fetch([]plumbing.Hash{before, after}, filterAll); err != nil {
		return err
	}
	for _, folder := range folders {
		old, _, err := d.objects.find(before, folder)
		if err != nil {
			return err
		}
		now, _, err := d.objects.find(after, folder)
		if err != nil {
			return err
		}
		if err := d.entries(folder, old, now); err != nil {
			return err
		}
	}
	return nil
}

// entries adds the paths that differ between two entries. The zero entry means absent.
func (d diff) entries(path string, old, now entry) error {
	*d.left--
	if *d.left < 0 || old.Hash == now.Hash && old.Mode == now.Mode {
		return nil
	}
	if err := d.objects.reader.Context().Err(); err != nil {
		return err
	}
	if !old.IsTree() && !now.IsTree() || len(path) > maxWalkedPath {
		d.change.add(path)
		return nil
	}
	prefix := path + "/"
	if path == "." {
		prefix = ""
	}
	before, after, err := d.bothChildren(old, now)
	if err != nil {
		return err
	}
	if !old.IsTree() && old.Mode != "" || !now.IsTree() && now.Mode != "" {
		d.change.add(path) // a file became a folder, or a folder a file
	}
	all := maps.Clone(after)
	maps.Copy(all, before)
	ordered := slices.Collect(maps.Values(all))
	gitobject.SortTree(ordered)
	for _, e := range ordered {
		if err := d.entries(prefix+e.Name, before[e.Name], after[e.Name]); err != nil {
			return err
		}
	}
	return nil
}

// bothChildren returns the entries of two folders, and fetches the subfolders that differ. One of the two folders may
// be absent.
func (d diff) bothChildren(old, now entry) (before, after map[string]entry, err error) {
	tree, other := treeOf(old), treeOf(now)
	if tree.IsZero() != other.IsZero() { // all files of the one side differ
		if err := d.objects.fetch([]plumbing.Hash{tree, other}, filterBlobs); err != nil {
			return nil, nil, err
		}
	}
	before, err = d.objects.children(tree)
	if err != nil {
		return nil, nil, err
	}
	after, err = d.objects.children(other)
	if err != nil {
		return nil, nil, err
	}
	var wants []plumbing.Hash
	for name, e := range before {
		if other := after[name]; e.IsTree() && other.IsTree() && e.Hash != other.Hash {
			wants = append(wants, e.Hash, other.Hash)
		}
	}
	return before, after, d.objects.fetch(wants, filterAll)
}
