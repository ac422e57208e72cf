package delivery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Change is what an apply makes of a branch.
type Change struct {
	Wanted   Inventory // what the destination is to hold
	Held     Inventory // what it holds that is ours, or becomes ours
	Adoption Adoption
	// Promotes says that the branch gets another promoted commit.
	Promotes bool
	// Needed says that the branch does not hold what is desired yet.
	Needed bool
	// Remove are the paths from the repo's root that go.
	Remove []string
	Record Record // as it is to be
	// RecordHash is that of the record's blob as the branch then has it: not of Record, where no commit is needed.
	RecordHash string
}

// Adoption is what a change finds at its destination that the rendering did not write.
type Adoption struct {
	Adopted []string // folders that become ours
	Removed []string // folders among them, and others of the operator's, that go
}

// change decides what the apply makes of a branch that is as at says, and why it may not. s is the state that the plan was
// made from. old is the same branch at the destination of s where the rendering moves within it; nil: it does not, or that is
// not read.
func (d *Desired) change(s *State, at, old *BranchState) (*Change, []error) {
	c := &Change{Record: d.recordOn(at), RecordHash: at.RecordHash, Wanted: d.Inventory()}
	c.Promotes = c.Record.PromotedCommit != at.promotedCommit()
	if err := d.mayWrite(s, at); err != nil {
		return c, []error{err}
	}
	owned := at.listed()
	if held := at.Folders.only(owned); !s.Current() && at.Record != nil && !d.Adopt && !held.mayBecome(c.Wanted) {
		return c, []error{&ExistsError{d.Destination, d.Environment, Changes(held, c.Wanted)}}
	}
	if err := d.mayDecide(s, at); err != nil {
		return c, []error{err}
	}
	if d.updates(s) {
		owned = s.owned(at)
		if moved := at.changedSince(s); len(moved) > 0 && !d.heldBy(at) {
			return c, []error{&MovedError{d.Destination, moved}}
		}
	}
	if err := CheckPromotedCommit(d.Destination, d.Tree, d.PromotedCommit); err != nil {
		return c, []error{err}
	}
	var errs []error
	var err error
	if c.Adoption, err = d.adoption(s, at, owned, c.Wanted.Names()); err != nil {
		errs = append(errs, err)
	}
	ours := union(owned, c.Adoption.Adopted)
	c.Held = at.Folders.only(ours)
	replaced := s.Current() && s.Environment != d.Environment
	if err := d.Guardrails.Check(c.Held, d.Target(), replaced); err != nil { // also what goes with a later wave
		errs = append(errs, err)
	}
	for _, err := range []error{d.mayMove(s), d.mayStay(s)} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if !s.Current() && at.Record == nil {
		if err := d.Guardrails.CheckFirst(d.Target()); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return c, errs
	}
	c.Needed = d.moves(s) || at.Record == nil || !at.Record.same(c.Record) || !c.Held.Equal(c.Wanted)
	if !c.Needed {
		return c, nil
	}
	c.RecordHash = c.Record.hash()
	for _, name := range ours {
		_, keep := c.Wanted[name]
		_, folder := c.Held[name]
		if !keep || !folder { // what others put in place of a folder of ours goes
			c.Remove = append(c.Remove, d.Destination.Join(name))
		}
	}
	if old != nil && !d.KeepOld {
		remove, err := pathsToRemoveUnchanged(s, old)
		if err != nil {
			return c, []error{err}
		}
		c.Remove = append(c.Remove, remove...)
	}
	return c, nil
}

// mayWrite returns why the destination is not this rendering's to write, or nil.
func (d *Desired) mayWrite(s *State, at *BranchState) error {
	refuse := func(format string, args ...any) error {
		return &OwnershipError{Destination: d.Destination, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case at.Obstacle != "":
		return refuse("%s. Choose another path, or move it away.", at.Obstacle)
	case at.RecordObstacle != "":
		return refuse("%s, so the record %s can't be written. Remove it from the branch, or choose another path.",
			at.RecordObstacle, d.Destination.RecordPath())
	case at.PromotedCommitObstacle != "" && d.PromotedCommit != "":
		return refuse("%s, so the promoted commit can't be written to %s. Remove it from the branch.",
			at.PromotedCommitObstacle, tree.PromotedCommitFile)
	}
	for _, other := range at.Renderings {
		left := d.movesWithin(s) && !d.KeepOld && other == s.Destination.Path
		switch {
		case left || !nested(other, d.Destination.Path):
		case d.movesWithin(s) && other == s.Destination.Path:
			return refuse("on_move = \"keep\" leaves this rendering at path %q of this branch too, and neither may lie in the other: %s. Choose a path beside it.", other, ErrNested)
		default:
			return refuse("another rendering writes to path %q of this branch, and neither may lie in the other: %s. Choose a path beside it.", other, ErrNested)
		}
	}
	if r := at.Record; r != nil && r.Environment != d.Environment && (!d.updates(s) || r.Environment != s.Environment) {
		advice := "Choose another branch or path."
		if d.updates(s) {
			advice += " If the record is wrong, restore it from the branch's history."
		}
		return refuse("the record %s says that this is the rendering of environment %q, not of %q. %s",
			d.Destination.RecordPath(), r.Environment, d.Environment, advice)
	}
	if at.RecordError != "" && !d.updates(s) {
		return d.Destination.brokenRecord(at)
	}
	return nil
}

func (at Destination) brokenRecord(b *BranchState) error {
	return &OwnershipError{Destination: at, Reason: fmt.Sprintf("the record %s can't be used: %s.", at.RecordPath(), b.RecordError)}
}

// mayMove returns why what was delivered before may not be removed from another place, or nil.
func (d *Desired) mayMove(s *State) error {
	if !d.moves(s) || d.KeepOld {
		return nil
	}
	return d.Guardrails.CheckMove(s.Destination, s.Ours())
}

// heldBy reports whether a branch holds what is desired: then whoever wrote it did what was to be done.
func (d *Desired) heldBy(at *BranchState) bool {
	return at.Record != nil && at.Record.same(d.record()) && at.Folders.only(at.listed()).Equal(d.Inventory())
}

// adoption finds the folders that are not ours: those that the tree needs, and with adopt those that the operator left.
func (d *Desired) adoption(s *State, at *BranchState, owned, wanted []string) (a Adoption, err error) {
	var inTheWay []string
	for _, name := range without(wanted, owned) {
		if slices.Contains(at.Files, name) {
			inTheWay = append(inTheWay, name)
		} else if _, ok := at.Folders[name]; ok {
			a.Adopted = append(a.Adopted, name)
		}
	}
	switch {
	case len(inTheWay) > 0:
		return Adoption{}, &OwnershipError{Destination: d.Destination, Reason: fmt.Sprintf(
			"these exist but are not directories, so that the folders of the cluster types can't be written: %s. Move them away.", strings.Join(inTheWay, ", "))}
	case !d.Adopt && len(a.Adopted) > 0:
		return Adoption{}, &OwnershipError{Destination: d.Destination, Folders: a.Adopted, Reason: fmt.Sprintf(
			"these folders exist and are not this rendering's: %s. Set adopt = true to take them over: what is in them and not rendered is removed.",
			strings.Join(a.Adopted, ", "))}
	case !d.Adopt || d.updates(s) && at.Record != nil: // what the operator left was taken over with the first delivery, which showed it
		return a, nil
	}
	a.Removed = without(at.Operators, slices.Concat(owned, a.Adopted))
	a.Adopted = union(a.Adopted, a.Removed)
	return a, nil
}

// pathsToRemoveUnchanged returns the paths of what is ours at a destination that is left, provided that it is as the plan saw it.
func pathsToRemoveUnchanged(s *State, at *BranchState) ([]string, error) {
	if moved := at.changedSince(s); len(moved) > 0 {
		return nil, &MovedError{s.Destination, moved}
	}
	return pathsToRemove(s, at)
}

// pathsToRemove returns the paths of what is ours at a destination: what our record lists, and the record. Where the record is
// gone, only folders that are still as they were delivered are known to be ours.
func pathsToRemove(s *State, at *BranchState) ([]string, error) {
	var paths []string
	join := func(inventory Inventory) {
		for _, name := range inventory.Names() {
			paths = append(paths, s.Destination.Join(name))
		}
	}
	switch r := at.Record; {
	case at.RecordError != "":
		return nil, s.Destination.brokenRecord(at)
	case r == nil:
		ours := at.Folders.only(s.Delivered.Names())
		for name, folder := range ours {
			if folder.Hash != s.Delivered[name].Hash {
				delete(ours, name)
			}
		}
		join(ours)
	case r.Environment != s.Environment:
		return nil, &OwnershipError{Destination: s.Destination, Reason: fmt.Sprintf(
			"the record %s says that this is now the rendering of environment %q, not of %q. Nothing was removed.",
			s.Destination.RecordPath(), r.Environment, s.Environment)}
	default:
		paths = append(paths, s.Destination.RecordPath())
		join(at.Folders.only(r.ClusterTypes))
	}
	return paths, nil
}

// CheckPromotedCommit refuses a tree at a destination where a folder of it, or its record, would hold the file with the
// promoted commit, or lie in it. Without a promoted commit there is no such file.
func CheckPromotedCommit(at Destination, t *tree.Tree, promoted string) error {
	if promoted == "" {
		return nil
	}
	paths := []string{at.RecordPath()}
	for _, folder := range t.Folders {
		paths = append(paths, at.Join(folder.ClusterType))
	}
	for _, path := range paths {
		if nested(path, tree.PromotedCommitFile) {
			return fmt.Errorf("%q and the file with the promoted commit, %s, can't both be on the branch; choose another path", path, tree.PromotedCommitFile)
		}
	}
	return nil
}

// OwnershipError is a destination, or folders there, that are not ours to write.
type OwnershipError struct {
	Destination Destination
	Folders     []string // such that adoption would take over; empty where adoption does not help
	Reason      string
}

// Error implements error.
func (e *OwnershipError) Error() string {
	return fmt.Sprintf("At %s: %s", e.Destination, e.Reason)
}

// ExistsError is a rendering of the environment that is at the destination already, that no state tells of, and whose tree is
// not the one desired. Where the trees are equal, nobody loses anything: a state was lost, or a create was killed.
type ExistsError struct {
	Destination Destination
	Environment string
	Changes     map[string]string // as [Changes] tells them, from what is there to what is desired
}

// Error implements error.
func (e *ExistsError) Error() string {
	lines := make([]string, 0, len(e.Changes))
	for _, name := range slices.Sorted(maps.Keys(e.Changes)) {
		lines = append(lines, name+": "+e.Changes[name])
	}
	return fmt.Sprintf("At %s, the record %s says that this is a rendering of environment %q. The state does not know it, and its tree "+
		"is not the one that this configuration renders. Deployment targets that would be added (+), removed (-) and changed (~):\n%s",
		e.Destination, e.Destination.RecordPath(), e.Environment, fleet.IndentedList(lines, listed))
}

// MovedError is folders of ours that changed on the branch since they were last read.
type MovedError struct {
	Destination Destination
	Folders     []string
}

// Error implements error.
func (e *MovedError) Error() string {
	return fmt.Sprintf("At %s, these of our folders or our record changed after the plan was made: %s. They are left as they are. Make a new plan: it shows what changed.",
		e.Destination, strings.Join(e.Folders, ", "))
}

// ErrNoRendering is a path that holds no rendering's record.
var ErrNoRendering = errors.New("no rendering")
