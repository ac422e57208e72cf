package remote

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// clusterTypeChange is the change of a cluster type's folder.
type clusterTypeChange struct {
	clusterType inventory.ClusterType
	differences map[string]int // the number of compared targets with each, such as "renames a.yaml → b.yaml"
	files       []string       // removed files directly in the folder
	notCompared int            // the number of changed targets that were not compared
}

// maxCompared limits the number of changed targets that are compared file by file.
const maxCompared = 200

// effects describes the effect of a change on a branch that the state does not know, by cluster type. It is empty if
// the branch contains no folders of ours.
func effects(c *delivery.Change, snapshot *gitbranch.Snapshot) ([]string, error) {
	if len(c.Existing) == 0 {
		return nil, nil
	}
	all := c.Existing.ChangesTo(c.Wanted)
	share := max(1, maxCompared/max(1, len(all)))
	var compared []string // the folders of targets
	for _, ct := range all {
		for _, target := range ct.Changed[:min(len(ct.Changed), share)] {
			compared = append(compared, c.Next.Args.Destination.Join(ct.Name+"/"+target))
		}
	}
	existing, err := readFolders(snapshot, compared[:min(len(compared), maxCompared)])
	if err != nil {
		return nil, err
	}
	changes := make([]clusterTypeChange, len(all))
	for i, ct := range all {
		one := clusterTypeChange{clusterType: ct, differences: map[string]int{}, notCompared: len(ct.Changed)}
		for _, target := range ct.Changed {
			files, ok := existing[c.Next.Args.Destination.Join(ct.Name+"/"+target)]
			wanted, known := c.Next.Files(ct.Name, target)
			if !ok || !known {
				continue
			}
			one.notCompared--
			for _, text := range differences(files, wanted) {
				one.differences[text]++
			}
		}
		files, err := snapshot.NonFolders(c.Next.Args.Destination.Join(ct.Name))
		if err != nil {
			return nil, err
		}
		one.files = sets.Without(slices.Sorted(maps.Keys(files)), []string{tree.ReadmeFile})
		changes[i] = one
	}
	undecided := slices.DeleteFunc(c.Wanted.Names(), func(name string) bool {
		return c.Wanted[name].Known != inventory.Unread
	})
	return effectLines(changes, undecided, problem.MaxListed), nil
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

// effectLines lists the changes of at most most cluster types, and those whose changes are not known yet.
func effectLines(changes []clusterTypeChange, undecided []string, most int) []string {
	var lines []string
	for _, ct := range changes[:min(len(changes), most)] {
		lines = append(lines, ct.lines()...)
	}
	if more := len(changes) - most; more > 0 {
		lines = append(lines, "and "+problem.Count(more, "more cluster type"))
	}
	if len(undecided) > 0 {
		lines = append(lines, "not known before the apply: "+problem.First(undecided, maxTargets))
	}
	return lines
}

// Limits of the lines of one cluster type.
const (
	maxTargets     = 5
	maxDifferences = 8
)

func (c *clusterTypeChange) lines() []string {
	ct := c.clusterType
	head := fmt.Sprintf("%s: %d added, %d removed, %d changed",
		ct.Name, len(ct.Added), len(ct.Removed), len(ct.Changed))
	head += map[inventory.Kind]string{
		inventory.Added: " (a new folder)", inventory.Removed: " (the folder is removed)",
	}[ct.Kind]
	lines := []string{head}
	add := func(what string, names []string) {
		if len(names) > 0 {
			lines = append(lines, "  "+what+": "+problem.First(names, maxTargets))
		}
	}
	add("added", ct.Added)
	add("removed", ct.Removed)
	add("changed", ct.Changed)
	add("removed files", c.files)
	texts := slices.SortedFunc(maps.Keys(c.differences), func(a, b string) int { // the most frequent first
		return cmp.Or(cmp.Compare(c.differences[b], c.differences[a]), cmp.Compare(a, b))
	})
	for _, text := range texts[:min(len(texts), maxDifferences)] {
		lines = append(lines, fmt.Sprintf("  %s (%s)", text, problem.Count(c.differences[text], "deployment target")))
	}
	if more := len(texts) - maxDifferences; more > 0 {
		lines = append(lines, "  and "+problem.Count(more, "more difference"))
	}
	if c.notCompared > 0 {
		targets := problem.Count(c.notCompared, "changed deployment target")
		lines = append(lines, fmt.Sprintf("  %s not compared file by file", targets))
	}
	return lines
}
