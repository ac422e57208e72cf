package remote

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish/accepted"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// BranchChange is the change of the rendering's and the adopted folders on a branch that the state does not know.
type BranchChange struct {
	Adoption     check.Adoption
	Emptied      inventory.Folders   // see [delivery.Change]
	Accepted     []accepted.ID       // see [delivery.Change]
	Undecided    []string            // cluster types whose changes are not known yet
	ClusterTypes []ClusterTypeChange // sorted by name; empty if the branch contains no folders of ours
}

// ClusterTypeChange is the change of a cluster type's folder.
type ClusterTypeChange struct {
	ClusterType describe.ClusterType
	Differences []Difference // of the compared targets, the most frequent first
	Files       []string     // removed files directly in the folder
	NotCompared int          // the number of changed targets that were not compared
}

// Difference is a difference that changed targets share.
type Difference struct {
	Text    string // such as "renames config.yaml → platform-config.yaml"
	Targets int
}

func newBranchChange(p *delivery.PlannedChange) *BranchChange {
	return &BranchChange{Adoption: p.Change.Adoption, Emptied: p.Change.Emptied, Accepted: p.Change.Accepted}
}

// maxCompared limits the number of changed targets that are compared file by file.
const maxCompared = 200

// branchChange returns the effect of a planned change on the branch.
func branchChange(p *delivery.PlannedChange, snapshot *gitbranch.Snapshot) (*BranchChange, error) {
	change := newBranchChange(p)
	if len(p.Change.Existing) == 0 {
		return change, nil
	}
	all := p.Change.Existing.ChangesTo(p.Change.Wanted)
	for _, name := range p.Change.Wanted.Names() {
		if p.Change.Wanted[name].Known == inventory.Unread {
			change.Undecided = append(change.Undecided, name)
		}
	}
	share := max(1, maxCompared/max(1, len(all)))
	var compared []string // the folders of targets
	for _, ct := range all {
		for _, target := range ct.Changed[:min(len(ct.Changed), share)] {
			compared = append(compared, p.Tree.Wish.Destination.Join(ct.Name+"/"+target))
		}
	}
	existing, err := readFolders(snapshot, compared[:min(len(compared), maxCompared)])
	if err != nil {
		return nil, err
	}
	for _, ct := range all {
		one := ClusterTypeChange{ClusterType: ct, NotCompared: len(ct.Changed)}
		counts := map[string]int{}
		for _, target := range ct.Changed {
			files, ok := existing[p.Tree.Wish.Destination.Join(ct.Name+"/"+target)]
			wanted, known := p.Tree.Files(ct.Name, target)
			if !ok || !known {
				continue
			}
			one.NotCompared--
			for _, text := range differences(files, wanted) {
				counts[text]++
			}
		}
		for text, n := range counts {
			one.Differences = append(one.Differences, Difference{text, n})
		}
		slices.SortFunc(one.Differences, func(a, b Difference) int {
			return cmp.Or(cmp.Compare(b.Targets, a.Targets), cmp.Compare(a.Text, b.Text))
		})
		files, err := snapshot.NonFolders(p.Tree.Wish.Destination.Join(ct.Name))
		if err != nil {
			return nil, err
		}
		one.Files = sets.Without(slices.Sorted(maps.Keys(files)), []string{tree.ReadmeFile})
		change.ClusterTypes = append(change.ClusterTypes, one)
	}
	return change, nil
}

// maxTargetFiles limits the number of files that are read per target.
const maxTargetFiles = 10

// readFolders reads the files directly in folders, by folder and name.
func readFolders(snapshot *gitbranch.Snapshot, folders []string) (map[string]map[string][]byte, error) {
	var paths []string
	read := make(map[string]map[string][]byte, len(folders))
	for _, folder := range folders {
		files, err := snapshot.NonFolders(folder)
		if err != nil {
			return nil, err
		}
		read[folder] = map[string][]byte{}
		names := slices.Sorted(maps.Keys(files))
		for _, name := range names[:min(len(names), maxTargetFiles)] {
			paths = append(paths, path.Join(folder, name))
		}
	}
	contents, err := snapshot.ReadFiles(paths)
	for file, content := range contents {
		read[path.Dir(file)][path.Base(file)] = content
	}
	return read, err
}

// Lines lists the changes of at most most cluster types.
func (c *BranchChange) Lines(most int) []string {
	var lines []string
	for i, ct := range c.ClusterTypes {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %s", problem.Count(len(c.ClusterTypes)-most, "more cluster type")))
			break
		}
		lines = append(lines, ct.lines()...)
	}
	if len(c.Undecided) > 0 {
		lines = append(lines, "not known before the apply: "+problem.First(c.Undecided, maxTargets))
	}
	return lines
}

// Limits of the lines of one cluster type.
const (
	maxTargets     = 5
	maxDifferences = 8
)

func (ct *ClusterTypeChange) lines() []string {
	head := fmt.Sprintf("%s: %d added, %d removed, %d changed",
		ct.ClusterType.Name, len(ct.ClusterType.Added), len(ct.ClusterType.Removed), len(ct.ClusterType.Changed))
	switch ct.ClusterType.Kind {
	case describe.Added:
		head += " (a new folder)"
	case describe.Removed:
		head += " (the folder is removed)"
	}
	lines := []string{head}
	add := func(what string, names []string) {
		if len(names) > 0 {
			lines = append(lines, "  "+what+": "+problem.First(names, maxTargets))
		}
	}
	add("added", ct.ClusterType.Added)
	add("removed", ct.ClusterType.Removed)
	add("changed", ct.ClusterType.Changed)
	add("removed files", ct.Files)
	for i, difference := range ct.Differences {
		if i == maxDifferences {
			lines = append(lines, fmt.Sprintf("  and %s", problem.Count(len(ct.Differences)-i, "more difference")))
			break
		}
		on := problem.Count(difference.Targets, "deployment target")
		lines = append(lines, fmt.Sprintf("  %s (%s)", difference.Text, on))
	}
	if ct.NotCompared > 0 {
		targets := problem.Count(ct.NotCompared, "changed deployment target")
		lines = append(lines, fmt.Sprintf("  %s not compared file by file", targets))
	}
	return lines
}
