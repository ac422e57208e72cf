package delivery

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Footprint is the folders of a rendering, by cluster type: what it wants, or what the branch holds of it.
type Footprint map[string]tree.Folder

// FootprintOf is what a tree wants.
func FootprintOf(t *tree.Tree) Footprint {
	f := make(Footprint, len(t.Folders))
	for _, folder := range t.Folders {
		f[folder.ClusterType] = folder
	}
	return f
}

// Names are the cluster types, sorted.
func (f Footprint) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Equal reports whether both hold the same files.
func (f Footprint) Equal(other Footprint) bool {
	return maps.EqualFunc(f, other, func(a, b tree.Folder) bool { return a.Hash == b.Hash })
}

// TreeHash is the hash of a Git tree whose entries are the folders alone.
func (f Footprint) TreeHash() tree.Hash {
	folders := make(map[string]tree.Hash, len(f))
	for name, folder := range f {
		folders[name] = folder.Hash
	}
	return tree.FolderHash(folders)
}

// differing are the cluster types whose folders differ, sorted.
func (f Footprint) differing(other Footprint) []string {
	var names []string
	for name := range f {
		if f[name].Hash != other[name].Hash {
			names = append(names, name)
		}
	}
	for name := range other {
		if _, ok := f[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// changesTo are the cluster types whose folders differ, with the targets that do, as far as their hashes are known.
func (f Footprint) changesTo(after Footprint) []describe.ClusterType {
	var changes []describe.ClusterType
	for _, name := range f.differing(after) {
		was, held := f[name]
		is, wanted := after[name]
		ct := describe.ClusterType{Name: name}
		switch {
		case !held:
			ct.Kind = describe.Added
		case !wanted:
			ct.Kind = describe.Removed
		}
		for old, young := range was.Targets.Pairs(is.Targets) {
			switch {
			case old == nil:
				ct.Added = append(ct.Added, young.Name)
			case young == nil:
				ct.Removed = append(ct.Removed, old.Name)
			case !old.Same(*young):
				ct.Changed = append(ct.Changed, young.Name)
			}
		}
		changes = append(changes, ct)
	}
	return changes
}

// Changes are what becomes of the targets of each cluster type that changes, as +added -removed ~changed.
func Changes(before, after Footprint) map[string]string {
	changes := map[string]string{}
	for _, ct := range before.changesTo(after) {
		changes[ct.Name] = fmt.Sprintf("+%d -%d ~%d", len(ct.Added), len(ct.Removed), len(ct.Changed))
	}
	return changes
}
