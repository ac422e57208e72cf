// Package comparison compares what two branches contain of renderings: their targets, placements, config values and
// other files. Package lookup reads the branches.
package comparison

import (
	"cmp"
	"maps"
	"path"
	"slices"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
)

// Pair has a value of each side.
type Pair[T any] struct{ Left, Right T }

// Side is a rendering on a branch.
type Side struct {
	Environment    string
	PromotedCommit string // "": none
	// Folders are the trees of the deployment targets, by cluster type and target. The target "" is the folder of the
	// cluster type itself, without those of the targets.
	Folders map[string]map[string]gitobject.Hash
}

// Folder is the folder of a deployment target on a cluster type, by its names on the left. The target "" is the folder
// of the cluster type itself.
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
	// Between is the number of first-parent commits between the promoted commits: positive if the left one is newer. It
	// is nil if it is not known.
	Between *int
	// Targets are the deployment targets of one side alone, sorted.
	Targets Pair[[]string]
	// Placements are the cluster types of one side alone, sorted, of the targets that both sides have.
	Placements map[string]Pair[[]string]
	// Configs and Files are the differences of folders that both sides have. Those with the most folders come first.
	Configs []ConfigDifference
	Files   []FileDifference

	// Unlisted counts the differences of config values in single folders that are too many for Configs.
	Unlisted int

	ignored func(target, key string) bool
	configs map[configKey][]Folder
	files   map[string][]Folder
	read    map[fileRead]fileDifference
}

// ConfigDifference is a difference of config values, with the folders in which it is.
type ConfigDifference struct {
	Key     string
	Values  Pair[*string] // nil: the side lacks the key
	Folders []Folder      // sorted
}

// FileDifference is a file that differs in folders.
type FileDifference struct {
	Name    string
	Folders []Folder // sorted
}

// Equal reports whether both sides have the same targets, placements, config values and files. Their promoted commits
// do not count.
func (c *Comparison) Equal() bool {
	return len(c.Targets.Left)+len(c.Targets.Right)+len(c.Placements)+len(c.Configs)+len(c.Files) == 0
}

// New compares what the names and hashes show. It returns the folders whose files have to be compared, sorted: pass
// their files to [Comparison.Add], and call [Comparison.Finish].
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
	slices.SortFunc(pairs, func(a, b FolderPair) int { return a.compare(b.Folder) })
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

// missing returns the targets that others lack, sorted.
func missing(all, others map[string][]string) (names []string) {
	for name := range all {
		if _, there := others[name]; !there && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (f Folder) compare(other Folder) int {
	return cmp.Or(cmp.Compare(f.ClusterType, other.ClusterType), cmp.Compare(f.Target, other.Target))
}

// Finish sorts the differences of the files that were added.
func (c *Comparison) Finish() {
	for key, folders := range c.configs {
		c.Configs = append(c.Configs, ConfigDifference{key.name, key.texts(), folders})
	}
	for name, folders := range c.files {
		c.Files = append(c.Files, FileDifference{name, folders})
	}
	slices.SortFunc(c.Configs, func(a, b ConfigDifference) int {
		return cmp.Or(cmp.Compare(len(b.Folders), len(a.Folders)), cmp.Compare(a.Key, b.Key),
			compareValues(a.Values.Left, b.Values.Left), compareValues(a.Values.Right, b.Values.Right))
	})
	slices.SortFunc(c.Files, func(a, b FileDifference) int {
		return cmp.Or(cmp.Compare(len(b.Folders), len(a.Folders)), cmp.Compare(a.Name, b.Name))
	})
	for _, d := range c.Configs {
		slices.SortFunc(d.Folders, Folder.compare)
	}
	for _, d := range c.Files {
		slices.SortFunc(d.Folders, Folder.compare)
	}
	c.configs, c.files, c.read = nil, nil, nil
}

func compareValues(a, b *string) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// SetHistory sets the number of commits between the promoted ones, from the first-parent history of the control plane,
// newest first.
func (c *Comparison) SetHistory(commits []string) {
	left, right := slices.Index(commits, c.Promoted.Left), slices.Index(commits, c.Promoted.Right)
	if left >= 0 && right >= 0 {
		c.Between = new(right - left)
	}
}
