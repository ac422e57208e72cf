// Package comparison compares renderings on two branches: their targets, placements, config values and other files.
// Package lookup reads the branches.
package comparison

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
)

// Pair contains one value for each side.
type Pair[T any] struct{ Left, Right T }

// Side is a rendering on a branch.
type Side struct {
	Environment    string
	PromotedCommit string // "": none
	// Folders contains the trees of the deployment targets, by cluster type and target. The target "" stands for the files
	// directly in the folder of the cluster type.
	Folders map[string]map[string]gitobject.Hash
}

// Folder is the folder of a deployment target on a cluster type, with its names on the left side. The target "" stands
// for the folder of the cluster type itself.
type Folder struct{ ClusterType, Target string }

// String returns the path of the folder.
func (f Folder) String() string { return path.Join(f.ClusterType, f.Target) }

// FolderPair is a folder that both sides have, with different trees.
type FolderPair struct {
	Folder
	RightClusterType string
}

// Comparison contains the differences between two sides.
type Comparison struct {
	Environments Pair[string]
	Promoted     Pair[string]
	// Between is the number of first-parent commits between the promoted commits. It is positive if the left side's commit
	// is newer, and nil if the number is not known.
	Between *int
	// Targets lists the deployment targets that only one side has, sorted.
	Targets Pair[[]string]
	// Placements lists, for each target that both sides have, the cluster types that only one side has, sorted.
	Placements map[string]Pair[[]string]
	// Configs and Files list the differences in folders that both sides have. The differences in most folders come first.
	Configs []ConfigDifference
	Files   []FileDifference

	// Unlisted counts the differences of config values that Configs leaves out because there are too many. It counts each
	// folder.
	Unlisted int

	ignored func(target, key string) bool
	configs map[configKey][]Folder
	files   map[string][]Folder
	read    map[fileRead]fileDifference
	secrets Secrets
}

// ConfigDifference is a difference of config values, with the folders in which it occurs.
type ConfigDifference struct {
	Key     string
	Values  Pair[*string] // nil: the side lacks the key
	Folders []Folder      // sorted
}

// FileDifference is a file that differs in some folders.
type FileDifference struct {
	Name    string
	Folders []Folder // sorted
}

// Equal reports whether both sides have the same targets, placements, config values and files. It ignores their
// promoted commits.
func (c *Comparison) Equal() bool {
	return len(c.Targets.Left)+len(c.Targets.Right)+len(c.Placements)+len(c.Configs)+len(c.Files) == 0
}

// New compares names and hashes. It also returns the folders whose files have to be compared, sorted. Pass these files
// to [Comparison.Add], then call [Comparison.Finish].
func New(left, right Side, o Options) (*Comparison, []FolderPair) {
	c := &Comparison{
		Environments: Pair[string]{left.Environment, right.Environment},
		Promoted:     Pair[string]{left.PromotedCommit, right.PromotedCommit},
		Placements:   map[string]Pair[[]string]{}, ignored: o.ignored(),
		configs: map[configKey][]Folder{}, files: map[string][]Folder{}, read: map[fileRead]fileDifference{},
	}
	placed := Pair[map[string][]string]{left.placed(), right.placed()}
	c.Targets.Left = missing(placed.Left, placed.Right)
	c.Targets.Right = missing(placed.Right, placed.Left)
	var pairs []FolderPair
	for target, types := range placed.Left {
		others, both := placed.Right[target]
		if !both {
			continue
		}
		var only Pair[[]string]
		matched := map[string]bool{}
		for _, other := range others {
			name := o.leftName(other)
			if _, there := left.Folders[name][target]; !there {
				only.Right = append(only.Right, other)
				continue
			}
			matched[name] = true
			if left.Folders[name][target] != right.Folders[other][target] {
				pairs = append(pairs, FolderPair{Folder{name, target}, other})
			}
		}
		for _, name := range types {
			if !matched[name] {
				only.Left = append(only.Left, name)
			}
		}
		if target != "" && len(only.Left)+len(only.Right) > 0 {
			c.Placements[target] = only
		}
	}
	slices.SortFunc(pairs, func(a, b FolderPair) int { return a.Compare(b.Folder) })
	return c, pairs
}

// placed returns the cluster types of each deployment target, sorted.
func (s Side) placed() map[string][]string {
	all := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Folders)) {
		for target := range s.Folders[name] {
			all[target] = append(all[target], name)
		}
	}
	return all
}

// missing returns the targets of all that are not in others, sorted.
func missing(all, others map[string][]string) (names []string) {
	for name := range all {
		if _, there := others[name]; !there && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Compare orders folders by cluster type and deployment target.
func (f Folder) Compare(other Folder) int {
	return cmp.Or(cmp.Compare(f.ClusterType, other.ClusterType), cmp.Compare(f.Target, other.Target))
}

// Finish sorts the differences of the files that were added, and hides the secrets of all files in their values.
func (c *Comparison) Finish() {
	shown := make(map[configKey][]Folder, len(c.configs))
	for key, folders := range c.configs {
		key.name = c.secrets.hideKey(key.name)
		key.values.Left, key.values.Right = c.secrets.hide(key.values.Left), c.secrets.hide(key.values.Right)
		shown[key] = append(shown[key], folders...)
	}
	for key, folders := range shown {
		values := Pair[*string]{key.values.Left.orNil(), key.values.Right.orNil()}
		c.Configs = append(c.Configs, ConfigDifference{key.name, values, folders})
	}
	for name, folders := range c.files {
		c.Files = append(c.Files, FileDifference{name, folders})
	}
	slices.SortFunc(c.Configs, func(a, b ConfigDifference) int {
		return cmp.Or(cmp.Compare(len(b.Folders), len(a.Folders)), cmp.Compare(a.Key, b.Key),
			cmp.Compare(order(a.Values.Left), order(b.Values.Left)), cmp.Compare(order(a.Values.Right), order(b.Values.Right)))
	})
	slices.SortFunc(c.Files, func(a, b FileDifference) int {
		return cmp.Or(cmp.Compare(len(b.Folders), len(a.Folders)), cmp.Compare(a.Name, b.Name))
	})
	for _, d := range c.Configs {
		slices.SortFunc(d.Folders, Folder.Compare)
	}
	for _, d := range c.Files {
		slices.SortFunc(d.Folders, Folder.Compare)
	}
	c.configs, c.files, c.read = nil, nil, nil
}

// order returns a text by which values are sorted: a missing value first.
func order(value *string) string {
	if value == nil {
		return ""
	}
	return "=" + *value
}

// SetHistory sets Between. commits is the first-parent history of the control plane, newest first.
func (c *Comparison) SetHistory(commits []string) {
	left, right := slices.Index(commits, c.Promoted.Left), slices.Index(commits, c.Promoted.Right)
	if left >= 0 && right >= 0 {
		c.Between = new(right - left)
	}
}
