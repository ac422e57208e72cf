package delivery

import (
	"errors"
	"fmt"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/accepted"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Change is the change of a branch by an apply.
type Change struct {
	Wanted   inventory.Folders // what the destination will contain
	Existing inventory.Folders // what it contains now: our folders and the adopted ones
	Adoption Adoption
	// Reason says why another promoted commit is taken: with the first wave of a rollout, and with the last one. It is
	// zero if none is taken, or no reason was recorded.
	Reason promotion.Reason
	// Emptied contains the folders of the cluster types that stay and lose all their deployment targets.
	Emptied inventory.Folders
	// Accepted are the refused parts of the change that accepted_changes allows.
	Accepted []accepted.ID
	// Needed says that the branch does not contain what is desired yet.
	Needed bool
	// Remove lists the paths to remove, from the repo's root.
	Remove []string
	Record record.Record // the new record
	// RecordHash is the hash of the record's blob on the branch after the change. If no commit is needed, the blob may
	// differ from Record.
	RecordHash string
}

// Adoption lists the folders at a destination that the rendering did not write, and that a change adopts.
type Adoption struct {
	Adopted []string // folders that become ours
	Removed []string // adopted folders that belong to no cluster type: the change removes them
}

// comparison is the tree of an apply beside a branch that was read. before is the state that the apply starts from.
type comparison struct {
	*AppliedTree
	before *State
	branch *BranchState
}

// change decides what the apply changes on the branch, and returns why it must not. If the rendering moves within the
// branch, old is what the branch contains at its old path; it may be nil.
func (c *comparison) change(old *BranchState) (*Change, []error) {
	change := &Change{Record: c.recordOn(c.branch), RecordHash: c.branch.RecordHash, Wanted: c.inventory}
	change.Reason = change.Record.NewReason(c.branch.Record)
	if err := c.checkBranch(); err != nil {
		return change, []error{err}
	}
	owned := c.branch.RecordedFolders()
	if c.Updates(c.before) {
		owned = c.before.Owned(c.branch)
	}
	adopt := c.Adopt
	if occupied := c.occupied(owned); occupied != nil {
		adopt = true
		if err := c.refuse(change, occupied, accepted.Occupied, c.occupants(owned)...); err != nil {
			return change, []error{err}
		}
	}
	if err := c.checkUnchanged(); err != nil {
		return change, []error{err}
	}
	var err error
	if change.Adoption, err = c.adoption(owned, change.Wanted.Names(), adopt); err != nil {
		return change, []error{err}
	}
	ours := sets.Union(owned, change.Adoption.Adopted)
	change.Existing = c.branch.Folders.Only(ours)
	if errs := c.checkRemovals(change); len(errs) > 0 {
		return change, errs
	}
	change.Needed = c.Moves(c.before) || c.branch.Record == nil || !c.branch.Record.Same(change.Record) ||
		!change.Existing.Equal(change.Wanted)
	if !change.Needed {
		return change, nil
	}
	change.RecordHash = change.Record.Hash()
	for _, name := range ours {
		_, keep := change.Wanted[name]
		_, folder := change.Existing[name]
		if !keep || !folder { // something else that replaced a folder of ours is removed
			change.Remove = append(change.Remove, c.Destination.Join(name))
		}
	}
	if old != nil && !c.KeepOld {
		remove, err := PathsToRemoveUnchanged(c.before, old)
		if err != nil {
			return change, []error{err}
		}
		change.Remove = append(change.Remove, remove...)
	}
	return change, nil
}

// checkBranch returns an error if the rendering must not write to the branch, whatever it writes.
func (c *comparison) checkBranch() error {
	if err := c.checkOwnership(); err != nil {
		return err
	}
	return c.checkLeftOut()
}

// checkUnchanged returns an error if the branch is not one that the plan knows.
func (c *comparison) checkUnchanged() error {
	if err := c.checkDecisions(); err != nil {
		return err
	}
	if c.Updates(c.before) {
		if moved := c.branch.changedSince(c.before); len(moved) > 0 && !c.IsContainedBy(c.branch) {
			return &MovedError{c.Destination, moved}
		}
		if err := c.checkRecord(); err != nil {
			return err
		}
	}
	if moved := c.keptMoved(); len(moved) > 0 {
		return &MovedError{c.Destination, moved}
	}
	return c.checkPromotedCommit(c.Target())
}

// occupied returns an error if the destination contains folders that are neither ours nor to be adopted, or nil.
func (c *comparison) occupied(owned []string) error {
	r := c.branch.Record
	if r != nil && !c.Updates(c.before) && r.Environment != c.Environment {
		return &OwnershipError{Destination: c.Destination, Reason: fmt.Sprintf(
			"the record %s says that this is the rendering of environment %q, not of %q. Choose another branch or path.",
			c.Destination.RecordPath(), r.Environment, c.Environment)}
	}
	if c.Adopt {
		return nil
	}
	recorded := c.branch.Folders.Only(c.branch.RecordedFolders())
	if r != nil && !c.before.Current() && !recorded.MayEqual(c.inventory) {
		return &ExistsError{c.Destination, c.Environment, inventory.Changes(recorded, c.inventory)}
	}
	foreign := c.branch.Folders.Only(sets.Without(c.inventory.Names(), owned)).Names()
	if len(foreign) == 0 {
		return nil
	}
	return &OwnershipError{Destination: c.Destination, Folders: foreign, Reason: fmt.Sprintf(
		"these folders exist and are not this rendering's: %s. Set adopt = true to adopt them: then the apply removes "+
			"what is in them and not rendered.", strings.Join(foreign, ", "))}
}

// occupants describes what an occupied destination contains: its record with the owner, and the folders that the
// rendering would take over.
func (c *comparison) occupants(owned []string) []string {
	all := []string{c.branch.RecordHash}
	if c.branch.Record != nil {
		all = append(all, c.branch.Record.Environment)
	}
	taken := sets.Union(sets.Union(owned, c.inventory.Names()), c.branch.OperatorFolders)
	return append(all, c.branch.Folders.Only(taken).Stake()...)
}

// refuse returns an error if accepted_changes does not allow that part of the change. If the state knows the branch,
// its head is at stake too. Of another branch, only the contents are: other renderings push to it.
func (c *comparison) refuse(change *Change, err error, kind string, stake ...string) error {
	head := ""
	if c.Updates(c.before) {
		head = c.before.Seen.Head
	}
	stake = append([]string{c.Destination.String(), head}, stake...)
	return c.AcceptedChanges.Refuse(err, &change.Accepted, kind, stake...)
}

// checkRemovals returns the errors about folders that the change removes from the branch, now or with a later wave.
func (c *comparison) checkRemovals(change *Change) (errs []error) {
	add := func(err error, kind string, stake []string) {
		if err := c.refuse(change, err, kind, stake...); err != nil {
			errs = append(errs, err)
		}
	}
	target, replaced := c.Target(), c.replacesEnvironment()
	if err := c.Guardrails.Check(change.Existing, target, replaced); err != nil {
		add(err, accepted.Removed, err.stake)
	}
	if !replaced { // adopted folders were never ours
		ours := sets.Without(change.Existing.Names(), change.Adoption.Adopted)
		change.Emptied = change.Existing.Only(ours).EmptiedBy(target)
	}
	if len(change.Emptied) > 0 && c.Guardrails.Emptied == problem.Fail {
		add(&EmptiedError{change.Emptied}, accepted.Emptied, change.Emptied.Stake())
	}
	if err := c.checkMove(); err != nil {
		add(err, accepted.Move, err.stake)
	}
	if err := c.mayStay(); err != nil {
		errs = append(errs, err)
	}
	if !c.before.Current() && c.branch.Record == nil {
		if err := c.Guardrails.CheckFirstDelivery(target, c.whyEmpty); err != nil {
			add(err, accepted.Empty, err.stake)
		}
	}
	return errs
}

// replacesEnvironment reports whether the folders at the destination are those of another environment.
func (c *comparison) replacesEnvironment() bool {
	if c.before.Current() && c.before.Environment != c.Environment {
		return true
	}
	r := c.branch.Record
	return r != nil && !c.Updates(c.before) && r.Environment != c.Environment
}

// checkOwnership returns an *OwnershipError if the rendering must not write to the destination.
func (c *comparison) checkOwnership() error {
	refuse := func(format string, args ...any) error {
		return &OwnershipError{Destination: c.Destination, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case c.branch.Obstacle != "":
		return refuse("%s. Choose another path, or move it away.", c.branch.Obstacle)
	case c.branch.RecordObstacle != "":
		return refuse("%s, so the record %s can't be written. Remove it from the branch, or choose another path.",
			c.branch.RecordObstacle, c.Destination.RecordPath())
	case c.branch.PromotedCommitObstacle != "" && c.Promotion.Commit != "":
		return refuse("%s, so the promoted commit can't be written to %s. Remove it from the branch.",
			c.branch.PromotedCommitObstacle, record.PromotedCommitFile)
	}
	for _, other := range c.branch.OtherRenderings {
		removed := c.MovesWithin(c.before) && !c.KeepOld && other == c.before.Destination.Path
		switch {
		case removed || !record.Nested(other, c.Destination.Path):
		case c.MovesWithin(c.before) && other == c.before.Destination.Path:
			return refuse(
				"on_move = \"keep\" also leaves this rendering at path %q of this branch: %s. Choose a path beside it.",
				other, ErrNested)
		default:
			return refuse(
				"another rendering writes to path %q of this branch: %s. Choose a path beside it.",
				other,
				ErrNested,
			)
		}
	}
	if r := c.branch.Record; r != nil && c.Updates(c.before) && r.Environment != c.Environment &&
		r.Environment != c.before.Environment {
		return refuse("the record %s says that this is the rendering of environment %q, not of %q. Choose another branch or "+
			"path. If the record is wrong, restore it from the branch's history.",
			c.Destination.RecordPath(), r.Environment, c.Environment)
	}
	if c.branch.RecordError != "" && !c.Updates(c.before) {
		return RecordProblem(c.Destination, c.branch)
	}
	return nil
}

// RecordProblem returns why the record at a destination can't be used.
func RecordProblem(at record.Destination, b *BranchState) error {
	return &OwnershipError{Destination: at, Reason: fmt.Sprintf(
		"the record %s can't be used: %s.", at.RecordPath(), b.RecordError)}
}

// checkMove returns a *GuardrailError if the guardrails forbid to remove the folders at the old location.
func (c *comparison) checkMove() *GuardrailError {
	if !c.Moves(c.before) || c.KeepOld {
		return nil
	}
	return c.Guardrails.CheckMove(c.before.Destination, c.before.Ours())
}

// IsContainedBy reports whether a branch contains the desired tree, by this apply or another writer.
func (t *AppliedTree) IsContainedBy(at *BranchState) bool {
	return at.Record != nil && at.Record.Same(t.record()) && at.Folders.Only(at.RecordedFolders()).Equal(t.inventory)
}

// adoption finds the folders to adopt: those that the tree needs, and with adopt those that the operator wrote.
func (c *comparison) adoption(owned, wanted []string, adopt bool) (adopted Adoption, err error) {
	var obstacles []string
	for _, name := range sets.Without(wanted, owned) {
		if slices.Contains(c.branch.Files, name) {
			obstacles = append(obstacles, name)
		} else if _, ok := c.branch.Folders[name]; ok {
			adopted.Adopted = append(adopted.Adopted, name)
		}
	}
	switch {
	case len(obstacles) > 0:
		return Adoption{}, &OwnershipError{Destination: c.Destination, Reason: fmt.Sprintf(
			"these exist but are not directories: %s. The folders of the cluster types can't be written. Move or remove them.",
			strings.Join(obstacles, ", "),
		)}
	case !adopt || c.Updates(c.before) && c.branch.Record != nil: // the first delivery adopted the operator's folders
		return adopted, nil
	}
	adopted.Removed = sets.Without(c.branch.OperatorFolders, slices.Concat(owned, adopted.Adopted))
	adopted.Adopted = sets.Union(adopted.Adopted, adopted.Removed)
	return adopted, nil
}

// PathsToRemoveUnchanged returns the [PathsToRemove], or a *MovedError if they changed since the plan.
func PathsToRemoveUnchanged(s *State, at *BranchState) ([]string, error) {
	if moved := at.changedSince(s); len(moved) > 0 {
		return nil, &MovedError{s.Destination, moved}
	}
	return PathsToRemove(s, at)
}

// PathsToRemove returns the paths of our folders at a destination, and of the record. The record lists our folders.
// Without a record, only folders that did not change since the delivery are ours.
func PathsToRemove(s *State, at *BranchState) ([]string, error) {
	var paths []string
	join := func(inventory inventory.Folders) {
		for _, name := range inventory.Names() {
			paths = append(paths, s.Destination.Join(name))
		}
	}
	switch r := at.Record; {
	case at.RecordError != "":
		return nil, RecordProblem(s.Destination, at)
	case r == nil:
		ours := at.Folders.Only(s.Delivered.Names())
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
		if err := checkRecord(s, at); err != nil {
			return nil, err
		}
		paths = append(paths, s.Destination.RecordPath())
		join(at.Folders.Only(r.ClusterTypes))
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

// ExistsError says that the destination contains a rendering of the environment that the state does not know, with
// another tree. If the trees are equal, it is no error: the state was lost, or a create was killed, and nothing is
// lost.
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
		e.Destination, e.Destination.RecordPath(), e.Environment, problem.IndentedList(lines, MaxListed))
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

// EmptiedError means that cluster types stay and lose all their deployment targets.
type EmptiedError struct{ Folders inventory.Folders }

// Error implements error.
func (e *EmptiedError) Error() string {
	lines := make([]string, 0, len(e.Folders))
	for _, name := range e.Folders.Names() {
		lines = append(lines, fmt.Sprintf("%s: %s", name, problem.Count(len(e.Folders[name].Targets), "deployment target")))
	}
	return "These cluster types stay, and lose all their deployment targets:\n" + problem.IndentedList(lines, MaxListed)
}

// DriftError means that the folders of a rendering have foreign changes, and that on_drift does not allow to overwrite
// them.
type DriftError struct{ State *State }

// Error implements error.
func (e *DriftError) Error() string {
	return "others changed the rendered folders at " + e.State.Destination.String()
}

// ReplacedError means that a plan destroys the rendering at a destination, and creates it again.
type ReplacedError struct {
	Destination record.Destination
	Environment string
}

// Error implements error.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("At %s, the apply would remove the rendering of environment %q in one commit, and write it again "+
		"in the next one. A cluster that fetches the first commit deletes all its workloads.", e.Destination, e.Environment)
}

// ErrNoRendering says that a path contains no record of a rendering.
var ErrNoRendering = errors.New("no rendering")

// ErrNested says that the folders of two renderings would contain each other.
var ErrNested = errors.New("two renderings at equal or nested paths")

// NestedError says that two renderings of one run write to equal or nested paths of a branch.
type NestedError struct{ Reason string }

// Error implements error.
func (e *NestedError) Error() string { return e.Reason }

// Unwrap returns [ErrNested].
func (e *NestedError) Unwrap() error { return ErrNested }
