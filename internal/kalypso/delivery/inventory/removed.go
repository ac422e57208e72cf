package inventory

import (
	"maps"
	"slices"
)

// RemovedBy returns the targets that a change removes, as cluster type/deployment target with the hash, and the number
// of targets before it. It skips folders whose targets are not known yet: the apply checks them.
func (inv Folders) RemovedBy(after Folders, replaced bool) (removed map[string]ShortHash, total int) {
	removed = map[string]ShortHash{}
	for name, folder := range inv {
		total += len(folder.Targets)
		if !replaced && (after[name].Hash == folder.Hash || after[name].Known == Unread) {
			continue
		}
		for was, now := range Pairs(folder.Targets, after[name].Targets) {
			if was != nil && (replaced || now == nil || now.Empty && !was.Empty) {
				removed[name+"/"+was.Name] = was.Hash
			}
		}
	}
	return removed, total
}

// EmptiedBy returns the folders that a change keeps without any target that has content. It returns none if all
// folders lose all: that is for max_removed and allow_empty to decide.
func (inv Folders) EmptiedBy(after Folders) Folders {
	if !after.MayHaveContent() {
		return nil
	}
	emptied := Folders{}
	for name, folder := range inv {
		if now, stays := after[name]; stays && folder.mayHaveContent() && !now.mayHaveContent() {
			emptied[name] = folder
		}
	}
	return emptied
}

// MayHaveContent reports whether a target has a file with content, as far as it is known.
func (inv Folders) MayHaveContent() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(inv)), Folder.mayHaveContent)
}

// mayHaveContent reports whether a target of the folder has a file with content, as far as it is known.
func (f Folder) mayHaveContent() bool {
	return f.Known == Unread || slices.ContainsFunc(f.Targets, func(t Target) bool { return t.Unknown || !t.Empty })
}
