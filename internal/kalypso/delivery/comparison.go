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
	return &Comparison{Next: t, Before: s, Branch: at, Case: CaseOf(t.Wish, s)}
}

// MayWrite returns an error if the rendering must not write to the branch, whatever it writes.
func (c *Comparison) MayWrite() error {
	if err := c.ownership(); err != nil {
		return err
	}
	return c.leftOut()
}

// Unchanged returns an error if the branch is not one that the plan knows.
func (c *Comparison) Unchanged() error {
	if err := c.decisions(); err != nil {
		return err
	}
	if c.Case == Update {
		if changed := c.Branch.ChangedSince(c.Before); len(changed) > 0 && !c.Next.IsContainedBy(c.Branch) {
			return moved(c.Next.Wish.Destination, changed)
		}
		if err := c.record(); err != nil {
			return err
		}
	}
	if changed := c.keptMoved(); len(changed) > 0 {
		return moved(c.Next.Wish.Destination, changed)
	}
	return checkPromotedCommit(c.Next.Wish, c.Next.Target())
}

// Refuse returns e, unless accepted_changes contains the ID of the refused change. If accepted_changes does, it adds
// the ID to used. If the state knows the branch, the ID depends on the branch's head. Otherwise it depends only on the
// contents, since other renderings push to the branch.
func (c *Comparison) Refuse(e *Refusal, used *[]ChangeID, kind string, stake []string) error {
	head := ""
	if c.Case == Update {
		head = c.Before.LastRead.Head
	}
	return refuse(c.Next.Wish, e, used, kind, append([]string{c.Next.Wish.Destination.String(), head}, stake...))
}

func refuse(a *Arguments, e *Refusal, used *[]ChangeID, kind string, stake []string) error {
	id := NewChangeID(kind, stake...)
	if a.AcceptedChanges.Allow(id, used) {
		return nil
	}
	e.ID = id
	return e
}

// Removals returns errors about the folders that the change removes from the branch, now or in a later wave. It returns
// warnings about cluster types that stay but lose all their deployment targets, and about deployment targets that leave
// their last cluster types. existing are our folders on the branch, and the adopted ones. It adds to used the IDs of
// the changes that accepted_changes allows.
func (c *Comparison) Removals(
	existing inventory.Folders, adopted []string, used *[]ChangeID,
) (warnings []*Refusal, errs []error) {
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	refuse := func(e *Refusal, kind string) error { return c.Refuse(e, used, kind, e.stake) }
	guardrails, target, replaced := c.Next.Wish.Guardrails, c.Next.Target(), c.replacesEnvironment()
	if err := checkRemoved(guardrails, existing, target, replaced); err != nil {
		add(refuse(err, IDRemoved))
	}
	if !replaced { // adopted folders were never ours
		folders := existing.Only(sets.Without(existing.Names(), adopted)).EmptiedBy(target)
		if len(folders) > 0 {
			e := emptiesClusterTypes(folders)
			var err error
			warnings, err = e.react(guardrails.Emptied, func() error { return refuse(e, IDEmptied) })
			add(err)
		}
	}
	ours := existing.Only(sets.Without(existing.Names(), adopted))
	if c.Case.Moves() { // the new location contains nothing of ours yet
		ours = c.Before.OwnFolders()
	}
	if e := c.orphaned(ours); e != nil && !replaced {
		reaction := guardrails.Orphaned
		if c.continuesRollout() {
			reaction = problem.Warn
		}
		more, err := e.react(reaction, func() error { return refuse(e, IDOrphaned) })
		warnings = append(warnings, more...)
		add(err)
	}
	if c.Case.Moves() && !c.Next.Wish.KeepOld {
		if err := checkMove(guardrails, c.Before.Destination, c.Before.OwnFolders()); err != nil {
			add(refuse(err, IDMove))
		}
	}
	add(c.CheckKept())
	if !c.Case.delivered() && c.Branch.Record == nil {
		add(c.FirstDelivery(used))
	}
	return warnings, errs
}

// FirstDelivery returns an error if the first delivery of the tree would contain no file with content, and
// accepted_changes does not allow that. If the destination contains no folder either, nothing can be lost: a fleet may
// begin without workloads.
func (c *Comparison) FirstDelivery(used *[]ChangeID) error {
	if len(c.Branch.Folders) == 0 {
		return nil
	}
	if err := checkFirstDelivery(c.Next.Wish.Guardrails, c.Next.Target(), c.Next.Rendered); err != nil {
		return c.Refuse(err, used, IDEmpty, err.stake)
	}
	return nil
}

// ProposalMoved returns an error if foreign commits were pushed to our branch after the plan was made.
func ProposalMoved(p *Proposal, at destination.Destination, ours *Branch) error {
	paths := ours.ChangedSince(p.Head)
	if len(paths) == 0 && ours.Head != p.Head.LastRead.Head {
		paths = []string{"commits beside our folders"} // the push would remove them
	}
	if len(paths) == 0 {
		return nil
	}
	return moved(at, paths)
}
