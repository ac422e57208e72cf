package delivery

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Inventory is the folders of a rendering, by cluster type: those that a tree has, or that a branch holds.
type Inventory map[string]Folder

// Folder is the folder of a cluster type.
type Folder struct {
	Hash    tree.Hash `json:"hash"`
	Targets []Target  `json:"targets,omitempty"` // by name
	Unknown bool      `json:"-"`                 // Hash is not known yet; only of what a plan desires
	// Undecided says that it is not known yet which targets there are: none here. Then Hash is unknown too.
	Undecided bool `json:"-"`
}

// Target is the folder of a deployment target in the folder of a cluster type.
type Target struct {
	Name  string
	Hash  ShortHash
	Empty bool // all its files are empty
	// Unknown says that Hash is not known yet. Only what a plan desires has such targets.
	Unknown bool
}

// ShortHash is the beginning of the hash of a Git tree: enough to tell what changed. Whole hashes of the cluster types'
// folders decide what is written.
type ShortHash [6]byte

// String returns the 12 hexadecimal digits of the hash.
func (h ShortHash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler: the hash, a dash where all files are empty, and the name.
func (t Target) MarshalText() ([]byte, error) {
	mark := ""
	if t.Empty {
		mark = "-"
	}
	return []byte(t.Hash.String() + mark + " " + t.Name), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Target) UnmarshalText(text []byte) error {
	hash, name, ok := strings.Cut(string(text), " ")
	hash, t.Empty = strings.CutSuffix(hash, "-")
	n, err := hex.Decode(t.Hash[:], []byte(hash[:min(len(hash), 2*len(t.Hash))]))
	if !ok || err != nil || n != len(t.Hash) || len(hash) != 2*n {
		return fmt.Errorf("%w: %q", errTarget, text)
	}
	t.Name = name
	return nil
}

var errTarget = errors.New("not the hash and the name of a deployment target")

// InventoryOf returns the folders of a tree.
func InventoryOf(t *tree.Tree) Inventory {
	inventory := make(Inventory, len(t.Folders))
	for _, folder := range t.Folders {
		f := Folder{
			Hash:      folder.Hash,
			Targets:   make([]Target, len(folder.Targets)),
			Unknown:   folder.Unknown,
			Undecided: folder.Undecided,
		}
		for i, target := range folder.Targets {
			f.Targets[i] = newTarget(target.Name, target.Hash, target.Empty)
			f.Targets[i].Unknown = target.Unknown
		}
		inventory[folder.ClusterType] = f
	}
	return inventory
}

func newTarget(name string, hash tree.Hash, empty bool) Target {
	t := Target{Name: name, Empty: empty}
	copy(t.Hash[:], hash[:])
	return t
}

// Names returns the cluster types, sorted; not nil.
func (inv Inventory) Names() []string {
	names := slices.AppendSeq(make([]string, 0, len(inv)), maps.Keys(inv))
	slices.Sort(names)
	return names
}

// Equal reports whether both hold the same files.
func (inv Inventory) Equal(other Inventory) bool {
	return maps.EqualFunc(inv, other, func(a, b Folder) bool { return a.Hash == b.Hash })
}

// mayBecome reports whether wanted holds the same files, as far as those are known.
func (inv Inventory) mayBecome(wanted Inventory) bool {
	return maps.EqualFunc(inv, wanted, func(was, is Folder) bool {
		switch {
		case is.Undecided:
			return true
		case !is.Unknown:
			return was.Hash == is.Hash
		}
		for old, young := range pairs(was.Targets, is.Targets) {
			if old == nil || young == nil || !young.Unknown && old.Hash != young.Hash {
				return false
			}
		}
		return true
	})
}

// TreeHash returns the hash of a Git tree whose entries are the folders alone.
func (inv Inventory) TreeHash() tree.Hash { return tree.FolderHash(inv.hashes()) }

// Count returns the number of deployment target folders.
func (inv Inventory) Count() int {
	n := 0
	for _, folder := range inv {
		n += len(folder.Targets)
	}
	return n
}

func (inv Inventory) hashes() map[string]tree.Hash {
	hashes := make(map[string]tree.Hash, len(inv))
	for name, folder := range inv {
		hashes[name] = folder.Hash
	}
	return hashes
}

// only returns the folders with the names; a name without a folder is skipped.
func (inv Inventory) only(names []string) Inventory {
	found := Inventory{}
	for _, name := range names {
		if folder, ok := inv[name]; ok {
			found[name] = folder
		}
	}
	return found
}

// differing returns the cluster types whose folders differ, sorted.
func (inv Inventory) differing(other Inventory) []string {
	var names []string
	for name := range inv {
		if inv[name].Hash != other[name].Hash {
			names = append(names, name)
		}
	}
	for name := range other {
		if _, ok := inv[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// shownHash returns the hash of the tree for people; "" for one without folders.
func (inv Inventory) shownHash() string {
	if len(inv) == 0 {
		return ""
	}
	return inv.TreeHash().String()
}

// sameAs returns the first of the cluster types whose folders are the same, with their targets, at most so many.
func (inv Inventory) sameAs(after Inventory, most int) []describe.ClusterType {
	var same []describe.ClusterType
	for _, name := range inv.Names() {
		is, ok := after[name]
		if !ok || is.Hash != inv[name].Hash {
			continue
		}
		if len(same) == most {
			break
		}
		ct := describe.ClusterType{Name: name}
		for _, target := range is.Targets {
			ct.Unchanged = append(ct.Unchanged, target.Name)
		}
		same = append(same, ct)
	}
	return same
}

// changesTo returns the cluster types whose folders differ, with the targets that do and those that do not. It skips
// those of which that is not known yet.
func (inv Inventory) changesTo(after Inventory) []describe.ClusterType {
	var changes []describe.ClusterType
	for _, name := range inv.differing(after) {
		was, held := inv[name]
		is, wanted := after[name]
		if is.Undecided {
			continue
		}
		ct := describe.ClusterType{Name: name}
		switch {
		case !held:
			ct.Kind = describe.Added
		case !wanted:
			ct.Kind = describe.Removed
		}
		for old, young := range pairs(was.Targets, is.Targets) {
			switch {
			case old == nil:
				ct.Added = append(ct.Added, young.Name)
			case young == nil:
				ct.Removed = append(ct.Removed, old.Name)
			case old.Hash != young.Hash:
				ct.Changed = append(ct.Changed, young.Name)
			default:
				ct.Unchanged = append(ct.Unchanged, young.Name)
			}
		}
		changes = append(changes, ct)
	}
	return changes
}

// pairs yields the targets of both lists by name; one of a pair is nil where only the other list has the name.
func pairs(was, is []Target) func(yield func(was, is *Target) bool) {
	return func(yield func(was, is *Target) bool) {
		for i, j := 0, 0; i < len(was) || j < len(is); {
			var old, young *Target
			if j == len(is) || i < len(was) && was[i].Name <= is[j].Name {
				old = &was[i]
			}
			if i == len(was) || j < len(is) && is[j].Name <= was[i].Name {
				young = &is[j]
			}
			if old != nil {
				i++
			}
			if young != nil {
				j++
			}
			if !yield(old, young) {
				return
			}
		}
	}
}

// Changes returns what becomes of the targets of each cluster type that changes, as +added -removed ~changed.
func Changes(before, after Inventory) map[string]string {
	changes := map[string]string{}
	for _, ct := range before.changesTo(after) {
		changes[ct.Name] = fmt.Sprintf("+%d -%d ~%d", len(ct.Added), len(ct.Removed), len(ct.Changed))
	}
	return changes
}
