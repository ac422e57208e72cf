// Package inventory lists the folders of a rendering with their hashes, and compares them.
package inventory

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Folders lists the folders of a rendering in a tree or on a branch, by cluster type.
type Folders map[string]Folder

// Folder is the folder of a cluster type.
type Folder struct {
	Hash    tree.Hash `json:"hash"`
	Targets []Target  `json:"targets,omitempty"` // sorted by name; see [StoredTargets]
	// Known says how much of it is known. Partial: the targets, but not Hash, as in the tree of a plan. Unread: not even
	// the targets, so that Targets is empty.
	Known Known `json:"-"`
}

// Target is the folder of a deployment target, inside the folder of a cluster type.
type Target struct {
	Name     string
	Hash     ShortHash
	FullHash tree.Hash // the whole hash; zero if the state does not have it
	Empty    bool      // all its files are empty
	Unknown  bool      // Hash is not known yet; only in the tree of a plan
}

// ShortHash is the start of the hash of a Git tree. It is enough to show what changed. What is written depends on the
// whole hashes of the cluster types' folders.
type ShortHash [6]byte

// String returns the 12 hexadecimal digits of the hash.
func (h ShortHash) String() string { return hex.EncodeToString(h[:]) }

// Of returns the folders of a tree.
func Of(t *tree.Tree) Folders {
	inventory := make(Folders, len(t.Folders))
	for _, folder := range t.Folders {
		f := Folder{Hash: folder.Hash, Targets: make([]Target, len(folder.Targets))}
		switch {
		case folder.Undecided:
			f.Known = Unread
		case folder.Unknown:
			f.Known = Partial
		}
		for i, target := range folder.Targets {
			f.Targets[i] = NewTarget(target.Name, target.Hash, target.Empty)
			f.Targets[i].Unknown = target.Unknown
		}
		inventory[folder.ClusterType] = f
	}
	return inventory
}

// NewTarget returns the target of a folder with a whole hash.
func NewTarget(name string, hash tree.Hash, empty bool) Target {
	t := Target{Name: name, Empty: empty, FullHash: hash}
	copy(t.Hash[:], hash[:])
	return t
}

// SameHash reports whether both targets have the same name and files.
func (t Target) SameHash(other Target) bool {
	return t.Name == other.Name && t.Hash == other.Hash
}

// WithoutWholeHashes returns a folder without the whole hashes of its targets.
func WithoutWholeHashes(_ string, folder Folder) Folder {
	folder.Targets = slices.Clone(folder.Targets) // nil stays nil
	for i := range folder.Targets {
		folder.Targets[i].FullHash = tree.Hash{}
	}
	return folder
}

// Names returns the names of the deployment targets, sorted.
func (f Folder) Names() []string {
	return lists.Map(f.Targets, func(t Target) string { return t.Name })
}

// Names returns the cluster types, sorted. It never returns nil.
func (inv Folders) Names() []string {
	names := slices.AppendSeq(make([]string, 0, len(inv)), maps.Keys(inv))
	slices.Sort(names)
	return names
}

// HashOf returns the first bytes of the hash of a cluster type's folder, or of the folder of a target in it. It
// returns nil if there is none.
func (inv Folders) HashOf(clusterType, target string) []byte {
	folder, ok := inv[clusterType]
	if !ok {
		return nil
	}
	if target == "" {
		hash := folder.Hash // or each call would copy the folder to the heap
		return hash[:]
	}
	n, ok := slices.BinarySearchFunc(folder.Targets, target, func(t Target, name string) int {
		return cmp.Compare(t.Name, name)
	})
	if !ok {
		return nil
	}
	return folder.Targets[n].Hash[:]
}

// Equal reports whether both have the same files.
func (inv Folders) Equal(other Folders) bool {
	return maps.EqualFunc(inv, other, func(a, b Folder) bool { return a.Hash == b.Hash })
}

// MayEqual reports whether wanted has the same files, as far as they are known.
func (inv Folders) MayEqual(wanted Folders) bool {
	return maps.EqualFunc(inv, wanted, func(was, is Folder) bool {
		switch is.Known {
		case Unread:
			return true
		case Whole:
			return was.Hash == is.Hash
		}
		for old, current := range Pairs(was.Targets, is.Targets) {
			if old == nil || current == nil || !current.Unknown && old.Hash != current.Hash {
				return false
			}
		}
		return true
	})
}

// TreeHash returns the hash of a Git tree whose entries are the folders alone.
func (inv Folders) TreeHash() tree.Hash { return tree.FolderHash(inv.Hashes()) }

// Count returns the number of deployment target folders.
func (inv Folders) Count() int {
	n := 0
	for _, folder := range inv {
		n += len(folder.Targets)
	}
	return n
}

// Hashes returns the hash of each folder, by cluster type.
func (inv Folders) Hashes() map[string]tree.Hash {
	return sets.MapValues(inv, func(f Folder) tree.Hash { return f.Hash })
}

// Only returns the folders with the given names. It skips names without a folder.
func (inv Folders) Only(names []string) Folders {
	found := Folders{}
	for _, name := range names {
		if folder, ok := inv[name]; ok {
			found[name] = folder
		}
	}
	return found
}

// Differing returns the cluster types whose folders differ, sorted.
func (inv Folders) Differing(other Folders) []string {
	return slices.DeleteFunc(slices.Sorted(sets.Keys(inv, other)), func(name string) bool {
		folder, ok := inv[name]
		return ok && folder.Hash == other[name].Hash
	})
}

// Stake lists the folders with their hashes, for the ID of a change.
func (inv Folders) Stake() (all []string) {
	for _, name := range inv.Names() {
		all = append(all, name, inv[name].Hash.String())
	}
	return all
}

// ShownHash returns the hash of the tree for a description. It is empty if there are no folders.
func (inv Folders) ShownHash() string {
	if len(inv) == 0 {
		return ""
	}
	return inv.TreeHash().String()
}

// UnchangedIn returns the first cluster types whose folders are equal in after, with their targets. It returns at
// most most.
func (inv Folders) UnchangedIn(after Folders, most int) []ClusterType {
	var same []ClusterType
	for _, name := range inv.Names() {
		is, ok := after[name]
		if !ok || is.Hash != inv[name].Hash {
			continue
		}
		if len(same) == most {
			break
		}
		same = append(same, ClusterType{Name: name, Unchanged: is.Names()})
	}
	return same
}

// ChangesTo returns the cluster types whose folders differ, with their changed and unchanged targets. It skips
// folders whose targets are not known yet.
func (inv Folders) ChangesTo(after Folders) []ClusterType {
	var changes []ClusterType
	for _, name := range inv.Differing(after) {
		was, existing := inv[name]
		is, wanted := after[name]
		if is.Known == Unread {
			continue
		}
		ct := ClusterType{Name: name, Kind: KindOf(existing, wanted)}
		for old, current := range Pairs(was.Targets, is.Targets) {
			switch {
			case old == nil:
				ct.Added = append(ct.Added, current.Name)
			case current == nil:
				ct.Removed = append(ct.Removed, old.Name)
			case old.Hash != current.Hash:
				ct.Changed = append(ct.Changed, current.Name)
			default:
				ct.Unchanged = append(ct.Unchanged, current.Name)
			}
		}
		changes = append(changes, ct)
	}
	return changes
}

// Pairs yields the targets of both lists by name. If only one list has the name, the other target is nil.
func Pairs(was, is []Target) iter.Seq2[*Target, *Target] {
	return lists.Pairs(was, is, func(t *Target) string { return t.Name })
}

// Changes counts the changed targets per cluster type, as "+added -removed ~changed".
func Changes(before, after Folders) map[string]string {
	changes := map[string]string{}
	for _, ct := range before.ChangesTo(after) {
		changes[ct.Name] = fmt.Sprintf("+%d -%d ~%d", len(ct.Added), len(ct.Removed), len(ct.Changed))
	}
	return changes
}

// HashTexts returns the hashes of the folders as text.
func (inv Folders) HashTexts() map[string]string {
	return sets.MapValues(inv, func(f Folder) string { return f.Hash.String() })
}

// Replace returns the folders that with returns. It calls with in the order of the names.
func (inv Folders) Replace(with func(name string, folder Folder) Folder) Folders {
	if inv == nil {
		return nil
	}
	replaced := make(Folders, len(inv))
	for _, name := range inv.Names() {
		replaced[name] = with(name, inv[name])
	}
	return replaced
}

// Placed returns the cluster types of each deployment target, sorted.
func (inv Folders) Placed() map[string][]string {
	all := map[string][]string{}
	for _, name := range inv.Names() {
		for _, target := range inv[name].Targets {
			all[target.Name] = append(all[target.Name], name)
		}
	}
	return all
}

// PlacedOf returns the cluster types of some deployment targets, sorted.
func (inv Folders) PlacedOf(names map[string]bool) map[string][]string {
	some := map[string][]string{}
	for _, name := range inv.Names() {
		for _, target := range inv[name].Targets {
			if names[target.Name] {
				some[target.Name] = append(some[target.Name], name)
			}
		}
	}
	return some
}

// FolderHash returns the hash of a cluster type's folder with these targets, if their whole hashes are known.
func FolderHash(targets []Target) (tree.Hash, bool) {
	hashes := make(map[string]tree.Hash, len(targets))
	for _, t := range targets {
		if t.FullHash == (tree.Hash{}) {
			return tree.Hash{}, false
		}
		hashes[t.Name] = t.FullHash
	}
	return tree.ClusterTypeHash(hashes), true
}

// Between reports whether a folder consists of targets of two other folders: each target of the folder is in one of
// them, and each target that is in both is in the folder too. It returns false if the whole hashes are not known, since
// the folder may also contain other files then.
func (f Folder) Between(before, after Folder) bool {
	if hash, ok := FolderHash(f.Targets); !ok || hash != f.Hash {
		return false
	}
	for _, t := range f.Targets {
		if !slices.ContainsFunc(before.Targets, t.SameHash) && !slices.ContainsFunc(after.Targets, t.SameHash) {
			return false
		}
	}
	contains := func(folder Folder, name string) bool { return slices.Contains(folder.Names(), name) }
	return !slices.ContainsFunc(before.Targets, func(t Target) bool {
		return contains(after, t.Name) && !contains(f, t.Name)
	})
}

// Known says how much of something is known. The zero value is [Whole], as of what a branch or a state contains.
type Known int

// The steps of knowledge, in order.
const (
	Unread  Known = iota - 2 // nothing: it depends on a branch that was not read, or on values that are not known yet
	Partial                  // a part
	Whole                    // all
)

// Known returns what is known of each folder.
func (inv Folders) Known() Known {
	least := Whole
	for _, folder := range inv {
		least = min(least, folder.Known)
	}
	return least
}

// Summary returns a line for each folder, such as "+1 -0 ~3, 16 targets, tree 8042707eec4d". changes contains the first
// part of lines, if it is known. last contains the lines of the last apply: the line of an unchanged folder stays.
func (inv Folders) Summary(changes, last map[string]string) map[string]string {
	all := make(map[string]string, len(inv))
	for name, folder := range inv {
		if folder.Known < Whole {
			all[name] = unknown.Text
			continue
		}
		line := fmt.Sprintf("%s, tree %.12s", problem.Count(len(folder.Targets), "target"), folder.Hash)
		switch {
		case last[name] == line || strings.HasSuffix(last[name], ", "+line):
			line = last[name]
		case changes[name] != "":
			line = changes[name] + ", " + line
		}
		all[name] = line
	}
	return all
}
