package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Comparison is the tree of an apply beside a branch that was read. Before is the state that the apply starts from, and
// Case says where its delivery is: see [CaseOf].
type Comparison struct {
	Next   *NextTree
	Before *State
	Branch *Branch
	Case   Case
}

// NewComparison compares the tree of an apply with a branch that was read. s is the state that the apply starts from.
func NewComparison(t *NextTree, s *State, at *Branch) *Comparison {
	return &Comparison{Next: t, Before: s, Branch: at, Case: CaseOf(t.Args, s)}
}

// MayWrite returns an error if the rendering must not write to the branch, whatever it writes.
func (c *Comparison) MayWrite() error {
	if err := c.checkOwnership(); err != nil {
		return err
	}
	return c.checkLeftOut()
}

// checkUnchanged returns an error if the branch is not one that the plan knows. After a delivery there, that is a
// branch on which our folders or the record changed since the last run read them, unless it contains the desired tree;
// and one with a record that this rendering did not write, or whose promoted commit has a closed gate. Without a
// delivery, the placement decisions in the record count, and newChange checks who owns the folders.
//
// Commits that change only other paths are no reason: the apply commits on top of them. If another push comes first,
// package gitbranch reads the branch again, with ten attempts in all, and this check decides again.
func (c *Comparison) checkUnchanged() error {
	if err := c.checkDecisions(); err != nil {
		return err
	}
	if c.Case == Update {
		if changed := c.Branch.changedSince(c.Before); len(changed) > 0 && !c.Next.IsContainedBy(c.Branch) {
			return moved(c.Next.Args.Destination, changed)
		}
		if err := c.checkRecord(); err != nil {
			return err
		}
	}
	if changed := c.keptMoved(); len(changed) > 0 {
		return moved(c.Next.Args.Destination, changed)
	}
	return checkPromotedCommit(c.Next.Args, c.Next.Target())
}

// refuse returns e, unless accepted_changes contains the ID of the refused change. If accepted_changes does, it adds
// the ID to used. If the state knows the branch, the ID depends on the branch's head. Otherwise it depends only on the
// contents, since other renderings push to the branch.
func (c *Comparison) refuse(e *Refusal, used *[]ChangeID, kind string) error {
	head := ""
	if c.Case == Update {
		head = c.Before.LastRead.Head
	}
	return e.unlessAccepted(c.Next.Args, used, kind, head)
}

// checkRemovals returns errors about the folders that the change removes from the branch, now or in a later wave. It
// returns warnings about cluster types that stay but lose all their deployment targets, and about deployment targets
// that leave their last cluster types. existing are our folders on the branch, and the adopted ones. It adds to used
// the IDs of the changes that accepted_changes allows.
func (c *Comparison) checkRemovals(
	existing inventory.Folders, adopted []string, used *[]ChangeID,
) (warnings []*Refusal, errs []error) {
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	guardrails, target, replaced := c.Next.Args.Guardrails, c.Next.Target(), c.replacesEnvironment()
	if err := checkRemoved(guardrails, existing, target, replaced); err != nil {
		add(c.refuse(err, used, IDRemoved))
	}
	ours := existing.Only(sets.Without(existing.Names(), adopted)) // adopted folders were never ours
	if !replaced {
		if folders := ours.EmptiedBy(target); len(folders) > 0 {
			e := emptiesClusterTypes(folders)
			var err error
			warnings, err = e.react(guardrails.Emptied, func() error { return c.refuse(e, used, IDEmptied) })
			add(err)
		}
	}
	if c.Case.moves() { // the new location contains nothing of ours yet
		ours = c.Before.OwnFolders()
	}
	if e := c.orphaned(ours); e != nil && !replaced {
		reaction := guardrails.Orphaned
		if c.continuesRollout() {
			reaction = problem.Warn
		}
		more, err := e.react(reaction, func() error { return c.refuse(e, used, IDOrphaned) })
		warnings = append(warnings, more...)
		add(err)
	}
	if c.Case.moves() && !c.Next.Args.KeepOld {
		if err := checkMove(guardrails, c.Before.Destination, c.Before.OwnFolders()); err != nil {
			add(c.refuse(err, used, IDMove))
		}
	}
	add(c.checkPendingWaves())
	if !c.Case.delivered() && c.Branch.Record == nil {
		add(c.checkFirstDelivery(used))
	}
	return warnings, errs
}

// checkFirstDelivery returns an error if the first delivery of the tree would contain no file with content, and
// accepted_changes does not allow that. If the destination contains no folder either, nothing can be lost: a fleet may
// begin without workloads.
func (c *Comparison) checkFirstDelivery(used *[]ChangeID) error {
	if len(c.Branch.Folders) == 0 {
		return nil
	}
	if err := checkEmpty(c.Next.Args.Guardrails, c.Next.Target(), c.Next.Rendered); err != nil {
		return c.refuse(err, used, IDEmpty)
	}
	return nil
}

// ProposalMoved returns an error if foreign commits were pushed to our branch after the plan was made.
func ProposalMoved(p *Proposal, at destination.Destination, ours *Branch) error {
	paths := ours.changedSince(p.Head)
	if len(paths) == 0 && ours.Head != p.Head.LastRead.Head {
		paths = []string{"commits beside our folders"} // the push would remove them
	}
	if len(paths) == 0 {
		return nil
	}
	return moved(at, paths)
}
