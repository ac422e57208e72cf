package delivery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// Change is what an apply changes on a branch.
type Change struct {
	Wanted   Inventory // what the destination will hold
	Held     Inventory // what it holds now: our folders and the adopted ones
	Adoption Adoption
	// Reason says why another promoted commit is taken: with the first wave of a rollout, and with the last one. It is
	// zero if none is taken, or nobody said.
	Reason record.Reason
	// Needed says that the branch does not hold what is desired yet.
	Needed bool
	// Remove lists the paths to remove, from the repo's root.
	Remove []string
	Record record.Record // the new record
	// RecordHash is the hash of the record's blob on the branch after the change. If no commit is needed, the blob may
	// differ from Record.
	RecordHash string
}

// Adoption lists what a change finds at its destination and the rendering did not write.
type Adoption struct {
	Adopted []string // folders that become ours
	Removed []string // adopted folders that belong to no cluster type: the change removes them
}

// change decides what the apply changes on the branch that was read as at, and returns why it must not. The plan was
// made from s. If the rendering moves within the branch, old is what the branch holds at its old path; it may be nil.
func (d *Desired) change(s *State, at, old *BranchState) (*Change, []error) {
	c := &Change{Record: d.recordOn(at), RecordHash: at.RecordHash, Wanted: d.Inventory()}
	c.Reason = c.Record.NewReason(at.Record)
	if err := d.checkOwnership(s, at); err != nil {
		return c, []error{err}
	}
	if err := d.checkLeftOut(s, at); err != nil {
		return c, []error{err}
	}
	owned := at.recordedFolders()
	if held := at.Folders.only(owned); !s.Current() && at.Record != nil && !d.Adopt && !held.mayEqual(c.Wanted) {
		return c, []error{&ExistsError{d.Destination, d.Environment, Changes(held, c.Wanted)}}
	}
	if err := d.checkDecisions(s, at); err != nil {
		return c, []error{err}
	}
	if d.updates(s) {
		owned = s.owned(at)
		if moved := at.changedSince(s); len(moved) > 0 && !d.isHeldBy(at) {
			return c, []error{&MovedError{d.Destination, moved}}
		}
		if err := d.checkRecord(s, at); err != nil {
			return c, []error{err}
		}
	}
	if moved := d.keptMoved(at); len(moved) > 0 {
		return c, []error{&MovedError{d.Destination, moved}}
	}
	if err := d.checkPromotedCommit(); err != nil {
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
	for _, err := range []error{d.checkMove(s), d.mayStay(s)} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if !s.Current() && at.Record == nil {
		if err := d.Guardrails.CheckFirstDelivery(d.Target(), d.whyEmpty); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return c, errs
	}
	c.Needed = d.moves(s) || at.Record == nil || !at.Record.Same(c.Record) || !c.Held.Equal(c.Wanted)
	if !c.Needed {
		return c, nil
	}
	c.RecordHash = c.Record.Hash()
	for _, name := range ours {
		_, keep := c.Wanted[name]
		_, folder := c.Held[name]
		if !keep || !folder { // something else that replaced a folder of ours is removed
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

// checkOwnership returns an *OwnershipError if the rendering must not write to the destination.
func (d *Desired) checkOwnership(s *State, at *BranchState) error {
	refuse := func(format string, args ...any) error {
		return &OwnershipError{Destination: d.Destination, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case at.Obstacle != "":
		return refuse("%s. Choose another path, or move it away.", at.Obstacle)
	case at.RecordObstacle != "":
		return refuse("%s, so the record %s can't be written. Remove it from the branch, or choose another path.",
			at.RecordObstacle, d.Destination.RecordPath())
	case at.PromotedCommitObstacle != "" && d.Promotion.Commit != "":
		return refuse("%s, so the promoted commit can't be written to %s. Remove it from the branch.",
			at.PromotedCommitObstacle, record.PromotedCommitFile)
	}
	for _, other := range at.OtherRenderings {
		removed := d.movesWithin(s) && !d.KeepOld && other == s.Destination.Path
		switch {
		case removed || !record.Nested(other, d.Destination.Path):
		case d.movesWithin(s) && other == s.Destination.Path:
			return refuse(
				"on_move = \"keep\" also leaves this rendering at path %q of this branch: %s. Choose a path beside it.",
				other, ErrNested)
		default:
			return refuse("another rendering writes to path %q of this branch: %s. Choose a path beside it.", other, ErrNested)
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
		return recordProblem(d.Destination, at)
	}
	return nil
}

// recordProblem returns why the record at a destination can't be used.
func recordProblem(at record.Destination, b *BranchState) error {
	return &OwnershipError{Destination: at, Reason: fmt.Sprintf(
		"the record %s can't be used: %s.", at.RecordPath(), b.RecordError)}
}

// checkMove returns a *GuardrailError if the guardrails forbid to remove the folders at the old location.
func (d *Desired) checkMove(s *State) error {
	if !d.moves(s) || d.KeepOld {
		return nil
	}
	return d.Guardrails.CheckMove(s.Destination, s.Ours())
}

// isHeldBy reports whether a branch holds what is desired, whoever wrote it.
func (d *Desired) isHeldBy(at *BranchState) bool {
	return at.Record != nil && at.Record.Same(d.record()) && at.Folders.only(at.recordedFolders()).Equal(d.Inventory())
}

// adoption finds the folders to adopt: those that the tree needs, and those that the operator wrote.
func (d *Desired) adoption(s *State, at *BranchState, owned, wanted []string) (a Adoption, err error) {
	var obstacles []string
	for _, name := range without(wanted, owned) {
		if slices.Contains(at.Files, name) {
			obstacles = append(obstacles, name)
		} else if _, ok := at.Folders[name]; ok {
			a.Adopted = append(a.Adopted, name)
		}
	}
	switch {
	case len(obstacles) > 0:
		return Adoption{}, &OwnershipError{Destination: d.Destination, Reason: fmt.Sprintf(
			"these exist but are not directories: %s. The folders of the cluster types can't be written. Move or remove them.",
			strings.Join(obstacles, ", "))}
	case !d.Adopt && len(a.Adopted) > 0:
		return Adoption{}, &OwnershipError{Destination: d.Destination, Folders: a.Adopted, Reason: fmt.Sprintf(
			"these folders exist and are not this rendering's: %s. Set adopt = true to adopt them: then the apply removes "+
				"what is in them and not rendered.", strings.Join(a.Adopted, ", "))}
	case !d.Adopt || d.updates(s) && at.Record != nil: // the first delivery adopted the operator's folders
		return a, nil
	}
	a.Removed = without(at.OperatorFolders, slices.Concat(owned, a.Adopted))
	a.Adopted = union(a.Adopted, a.Removed)
	return a, nil
}

// pathsToRemoveUnchanged returns the [pathsToRemove], or a *MovedError if they changed since the plan.
func pathsToRemoveUnchanged(s *State, at *BranchState) ([]string, error) {
	if moved := at.changedSince(s); len(moved) > 0 {
		return nil, &MovedError{s.Destination, moved}
	}
	return pathsToRemove(s, at)
}

// pathsToRemove returns the paths of our folders at a destination, and of the record. The record lists our folders.
// Without a record, only folders that did not change since the delivery are ours.
func pathsToRemove(s *State, at *BranchState) ([]string, error) {
	var paths []string
	join := func(inventory Inventory) {
		for _, name := range inventory.Names() {
			paths = append(paths, s.Destination.Join(name))
		}
	}
	switch r := at.Record; {
	case at.RecordError != "":
		return nil, recordProblem(s.Destination, at)
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
		if err := s.checkRecord(at); err != nil {
			return nil, err
		}
		paths = append(paths, s.Destination.RecordPath())
		join(at.Folders.only(r.ClusterTypes))
	}
	return paths, nil
}

// OwnershipError says that the rendering must not write to a destination, or to folders there.
type OwnershipError struct {
	Destination record.Destination
	Folders     []string // folders that adopt = true would adopt; empty if adoption does not help
	Reason      string
}

// Error implements error.
func (e *OwnershipError) Error() string {
	return fmt.Sprintf("At %s: %s", e.Destination, e.Reason)
}

// ExistsError says that the destination holds a rendering of the environment that the state does not know, with another
// tree. If the trees are equal, it is no error: the state was lost, or a create was killed, and nobody loses anything.
type ExistsError struct {
	Destination record.Destination
	Environment string
	Changes     map[string]string // as [Changes] tells them, from what is there to what is desired
}

// Error implements error.
func (e *ExistsError) Error() string {
	lines := make([]string, 0, len(e.Changes))
	for _, name := range slices.Sorted(maps.Keys(e.Changes)) {
		lines = append(lines, name+": "+e.Changes[name])
	}
	return fmt.Sprintf(
		"At %s, the record %s names a rendering of environment %q. The state does not know it, and this configuration "+
			"renders another tree. Deployment targets that would be added (+), removed (-) and changed (~):\n%s",
		e.Destination, e.Destination.RecordPath(), e.Environment, problem.IndentedList(lines, maxListed))
}

// MovedError says that folders of ours changed on the branch after the plan was made.
type MovedError struct {
	Destination record.Destination
	Folders     []string
}

// Error implements error.
func (e *MovedError) Error() string {
	return fmt.Sprintf(
		"At %s, these folders of the rendering, or its record, changed after the plan was made: %s. The apply did not "+
			"change them. Make a new plan: it shows what changed.", e.Destination, strings.Join(e.Folders, ", "))
}

// ErrNoRendering says that a path holds no record of a rendering.
var ErrNoRendering = errors.New("no rendering")
