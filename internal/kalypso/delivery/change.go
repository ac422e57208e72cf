package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Change is the change of a branch by an apply.
type Change struct {
	// Comparison is the tree beside the branch. If the last apply is not known, its Before contains the branch's folders:
	// ours and the adopted ones.
	Comparison
	Wanted   inventory.Folders // what the destination will contain
	Existing inventory.Folders // what it contains now: our folders and the adopted ones
	Adoption Adoption
	// Warnings are removals that a guardrail allows.
	Warnings []*Refusal
	// Accepted are the refused parts of the change that accepted_changes allows.
	Accepted []ChangeID
	// NotesSuccess says that the record notes a success after an automatic rollback, see [promotion.Reason.Unsettled].
	NotesSuccess bool
	// Needed says that the branch does not contain what is desired yet.
	Needed bool
	// Remove lists the paths to remove, from the repo's root.
	Remove []string
	Record record.Record // the new record
	// RecordHash is the hash of the record's blob on the branch after the change. If no commit is needed, the blob may
	// differ from Record.
	RecordHash string
}

// CompareWithBranch decides on the change of a branch that contains at. old is the destination before a move within the
// branch, or nil. It returns an error if the apply must not change it.
func CompareWithBranch(t *NextTree, s *State, at, old *Branch) (*Change, error) {
	t = t.On(s, at)
	compared := NewComparison(t, s, at)
	change, errs := newChange(compared, old)
	errs = append(CheckKept(t), errs...)
	if len(errs) > 0 {
		return nil, problem.Errors(errs)
	}
	if !compared.Case.delivered() {
		change.Before = at.asState(t.Args.Destination, change.Existing)
	}
	return change, nil
}

// newChange decides what the apply changes on the branch, and returns why it must not. After a refusal that
// accepted_changes can allow, it goes on as if the change was accepted, so that it returns all refusals together. If
// the rendering moves within the branch, old is what the branch contains at its old path; it may be nil.
func newChange(c *Comparison, old *Branch) (*Change, []error) {
	change := &Change{
		Comparison: *c,
		Record:     c.Next.RecordOn(c.Branch), RecordHash: c.Branch.RecordHash, Wanted: c.Next.Folders,
	}
	var errs []error
	moves, err := CheckMoves(c.Next, c.Before, &change.Accepted)
	if err != nil {
		errs = append(errs, err)
	}
	change.Warnings = moves
	if err := c.MayWrite(); err != nil {
		return change, append(errs, err)
	}
	owned := c.Branch.RecordedFolders()
	if c.Case == Update {
		owned = c.Before.owned(c.Branch)
	}
	adopt := c.Next.Args.Adopt
	if occupied := c.checkOccupied(owned); occupied != nil {
		adopt = true
		occupied.stake = c.occupants(owned)
		if err := c.refuse(occupied, &change.Accepted, IDOccupied); err != nil {
			errs = append(errs, err)
		}
	}
	if err := c.checkUnchanged(); err != nil {
		errs = append(errs, err)
		if Acceptable(err) == "" {
			return change, errs
		}
	}
	adoption, err := c.adoption(owned, change.Wanted.Names(), adopt)
	if err != nil {
		return change, append(errs, err)
	}
	if len(errs) == 0 {
		change.Adoption = adoption
	}
	ours := sets.Union(owned, adoption.Adopted)
	change.Existing = c.Branch.Folders.Only(ours)
	removals, refused := c.checkRemovals(change.Existing, adoption.Adopted, &change.Accepted)
	change.Warnings = append(change.Warnings, removals...)
	errs = append(errs, refused...)
	if len(errs) > 0 {
		return change, errs
	}
	change.NotesSuccess = notesSuccess(c.Next.Args, c.Branch.Record)
	change.Needed = change.NotesSuccess || c.Case.moves() || c.Branch.Record == nil ||
		!c.Branch.Record.Same(change.Record) || !change.Existing.Equal(change.Wanted)
	if !change.Needed {
		return change, nil
	}
	change.RecordHash = change.Record.Hash()
	for _, name := range ours {
		_, keep := change.Wanted[name]
		_, folder := change.Existing[name]
		if !keep || !folder { // something else that replaced a folder of ours is removed
			change.Remove = append(change.Remove, c.Next.Args.Destination.Join(name))
		}
	}
	if old != nil && !c.Next.Args.KeepOld {
		remove, err := PathsToRemoveUnchanged(c.Before, old)
		if err != nil {
			return change, []error{err}
		}
		change.Remove = append(change.Remove, remove...)
	}
	return change, nil
}
