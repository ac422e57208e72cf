package delivery

import (
	"maps"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// after returns the branch after the change, with its head.
func (c *Change) after(head string) Branch {
	b := *c.Branch
	b.Head = head
	if !c.Needed {
		return b
	}
	b.Folders = c.Branch.Folders.Only(sets.Without(c.Branch.Folders.Names(), c.Existing.Names()))
	maps.Copy(b.Folders, c.Wanted)
	ours := sets.Union(c.Existing.Names(), c.Wanted.Names())
	b.Files = sets.Without(b.Files, ours)
	b.OperatorFolders = sets.Without(b.OperatorFolders, ours)
	b.Record, b.RecordHash, b.RecordError = &c.Record, c.RecordHash, ""
	_ = b.SetReplaced(func(name string, hash tree.Hash) (inventory.Folder, bool, error) {
		for _, known := range []inventory.Folders{c.Existing, c.Branch.Replaced} {
			if folder, ok := known[name]; ok && folder.Hash == hash {
				return folder, true, nil
			}
		}
		return inventory.Folder{}, false, nil
	})
	if c.Record.PromotedCommit != "" && !c.Record.Rollout.UnderWay() {
		b.PromotedCommitFile = record.PromotedCommitHash(c.Record.PromotedCommit)
	}
	return b
}

// Delivered returns the state after the delivery of the change to a branch.
func (c *Change) Delivered(at destination.Destination, head string) *State {
	t := c.Next
	s := NewState(at, t.Args.Environment)
	s.Delivered, s.DeliveredRecord, s.PromotedCommit = c.Wanted, c.RecordHash, t.Record.PromotedCommit
	s.Decisions = t.Rendered.Decisions
	s.Inputs, s.Base, s.LastRead = c.InputsAfter(), head, c.after(head)
	s.Rollout = t.RolloutAfter(c.Needed)
	s.WholeHashes = t.Args.KeepFailed
	s.Remember(c.Before)
	return &s
}

// Promotes reports whether the change promotes another commit. After a move within the branch, and for folders adopted
// from the operator, no record at the destination names the previous commit.
func (c *Change) Promotes() bool {
	t, at := c.Next, c.Branch
	promoted := t.Record.PromotedCommit
	switch {
	case !t.Complete:
		return false
	case at.Record != nil:
	case c.Case == MoveWithin:
		return c.Before.PromotedCommit != promoted
	case len(c.Adoption.Adopted) > 0 && promoted != "":
		return at.PromotedCommitFile != record.PromotedCommitHash(promoted)
	}
	return at.PromotedCommit() != promoted
}

// TargetState returns the state of the target branch of a pull request, which does not contain the proposed tree yet.
func (c *Change) TargetState() *State {
	t := c.Next
	s := NewState(t.Args.Destination, t.Args.Environment)
	if r := c.Branch.Record; r != nil {
		s.Environment, s.Decisions = r.Environment, r.Decisions
	}
	s.Delivered = c.Existing.Only(sets.Without(c.Existing.Names(), c.Adoption.Adopted))
	s.DeliveredRecord, s.PromotedCommit = c.Branch.RecordHash, c.Branch.PromotedCommit()
	s.Base, s.LastRead = c.Branch.Head, *c.Branch
	s.Rollout = RolloutOf(c.Branch.Record, c.Branch.Time)
	if c.Case == Update {
		s.Rollout = c.Before.Rollout
	}
	s.WholeHashes = t.Args.KeepFailed
	if len(s.Delivered) > 0 {
		s.Inputs = c.Before.Inputs
	}
	s.Remember(c.Before)
	return &s
}

// InputsAfter returns the inputs of the tree of this apply. During a rollout, they are the inputs before it, so that
// each wave is described as a part of the same change.
func (c *Change) InputsAfter() *Inputs {
	if !c.Next.Complete {
		return c.Before.Inputs
	}
	return c.Next.Args.Inputs()
}

// ComputedState returns the state of a rendering that is only computed.
func ComputedState(t *NextTree) *State {
	s := NewState(destination.Destination{}, t.Args.Environment)
	s.PromotedCommit, s.Inputs = t.Args.Promotion.Commit, t.Args.Inputs()
	s.Delivered, s.Decisions = t.Folders, t.Rendered.Decisions
	s.LastRead.Folders = s.Delivered
	s.WholeHashes = t.Args.KeepFailed
	return &s
}
