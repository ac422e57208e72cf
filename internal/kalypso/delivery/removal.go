package delivery

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// PlanDestroy returns the errors of [Arguments.ValidateDestroy]. Without errors, it lists the paths that the
// destroy removes, as far as s shows.
func PlanDestroy(a *Arguments, s *State) problem.Problems {
	if ps := a.ValidateDestroy(); len(ps) > 0 || !a.Delivers() || a.KeepOnDestroy || !s.Current() {
		return ps
	}
	paths := listPaths(s)
	if paths == "" {
		return nil
	}
	does := "The destroy removes"
	if a.Strategy == destination.PullRequest {
		does = "The destroy opens a pull request that removes"
	}
	return problem.Problems{problem.WarningAt("Folders will be removed", fmt.Sprintf(
		"%s these paths from %s. Clusters that sync from the folders delete their objects. To keep them, apply on_destroy = "+
			"\"keep\" first:\n%s",
		does, s.Destination, paths), "on_destroy")}
}

// listPaths lists the paths of the rendering at its destination, each with its number of deployment targets. It is ""
// if there are none, or if they can't be told: the apply reads the branch, and reports its errors.
func listPaths(s *State) string {
	lines, err := PathsToRemove(s, &s.LastRead)
	if err != nil || len(lines) == 0 {
		return ""
	}
	slices.Sort(lines)
	for name, folder := range s.OwnFolders() {
		if i, there := slices.BinarySearch(lines, s.Destination.Join(name)); there {
			lines[i] += fmt.Sprintf(" (%s)", problem.Count(len(folder.Targets), "deployment target"))
		}
	}
	return problem.IndentedList(lines, maxPathsListed)
}

// maxPathsListed limits the paths that the plan of a destroy or a move lists.
const maxPathsListed = 200

// PathsToRemoveUnchanged returns the [PathsToRemove], or an error if they changed since the plan.
func PathsToRemoveUnchanged(s *State, at *Branch) ([]string, error) {
	if changed := at.changedSince(s); len(changed) > 0 {
		return nil, moved(s.Destination, changed)
	}
	return PathsToRemove(s, at)
}

// PathsToRemove returns the paths of the record and of our folders at a destination. The record lists our folders.
// Without a record, only folders that did not change since the delivery are ours.
func PathsToRemove(s *State, at *Branch) ([]string, error) {
	var paths []string
	ours := at.Folders.Only(s.Delivered.Names())
	switch r := at.Record; {
	case at.RecordError != "":
		return nil, RecordProblem(s.Destination, at)
	case r == nil:
		maps.DeleteFunc(ours, func(name string, f inventory.Folder) bool { return f.Hash != s.Delivered[name].Hash })
	case r.Environment != s.Environment:
		return nil, occupied(s.Destination,
			"the record %s says that this is now the rendering of environment %q, not of %q. Nothing was removed.",
			s.Destination.RecordPath(), r.Environment, s.Environment)
	default:
		if err := unknownRecord(&Arguments{}, s, at, ""); err != nil {
			return nil, err
		}
		paths, ours = []string{s.Destination.RecordPath()}, at.Folders.Only(r.ClusterTypes)
	}
	return append(paths, lists.Map(ours.Names(), s.Destination.Join)...), nil
}

// RecordProblem returns why the record at a destination can't be used.
func RecordProblem(at destination.Destination, b *Branch) error {
	return occupied(at, "the record %s can't be used: %s.", at.RecordPath(), b.RecordError)
}

// ContainsOurs reports whether the branch of a state, as it was last read, contains anything to remove.
func ContainsOurs(s *State) bool {
	paths, err := PathsToRemove(s, &s.LastRead)
	return len(paths) > 0 || err != nil && s.LastRead.RecordError != ""
}

// leftByMove lists the paths that a move leaves at the old location; "": it leaves none.
func leftByMove(a *Arguments, s *State) string {
	if !a.Delivers() || !a.Located() || !a.KeepOld || !CaseOf(a, s).moves() {
		return ""
	}
	return listPaths(s)
}
