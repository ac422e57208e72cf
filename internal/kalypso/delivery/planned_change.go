package delivery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// PlannedChange is a change of a branch that was read.
type PlannedChange struct {
	Change *Change
	Tree   *next.Next // that the branch must contain
	At     *past.Branch
	// Before is the state before the change, for [Describe]. If the last apply is not known, it contains
	// the branch's folders: ours and the adopted ones.
	Before *past.State
	Cache  gitbranch.TreeCache
}

// PlanChange decides on the change of a branch that contains at. old is the destination before a move within the
// branch, or nil. It returns an error if the apply must not change it.
func PlanChange(t *next.Next, s *past.State, at, old *past.Branch) (*PlannedChange, error) {
	t = t.On(s, at)
	change, errs := newChange(&check.Comparison{Next: t, Before: s, Branch: at}, old)
	if errs = append(check.Kept(t), errs...); len(errs) > 0 {
		return nil, check.RefusalErrors(errs)
	}
	p := &PlannedChange{Change: change, Tree: t, At: at, Before: s}
	if !s.Current() {
		p.Before = at.AsState(t.Wish.Destination, change.Existing)
	}
	return p, nil
}

// after returns the branch after the change, with its head.
func (p *PlannedChange) after(head string) past.Branch {
	b := *p.At
	b.Head = head
	if !p.Change.Needed {
		return b
	}
	b.Folders = inventory.Folders{}
	for _, name := range sets.Without(p.At.Folders.Names(), p.Change.Existing.Names()) {
		b.Folders[name] = p.At.Folders[name]
	}
	for name, folder := range p.Change.Wanted {
		b.Folders[name] = folder
	}
	ours := sets.Union(p.Change.Existing.Names(), p.Change.Wanted.Names())
	b.Files = sets.Without(b.Files, ours)
	b.OperatorFolders = sets.Without(b.OperatorFolders, ours)
	b.Record, b.RecordHash, b.RecordError = &p.Change.Record, p.Change.RecordHash, ""
	_ = b.SetReplaced(func(name string, hash tree.Hash) (inventory.Folder, bool, error) {
		for _, known := range []inventory.Folders{p.Change.Existing, p.At.Replaced} {
			if folder, ok := known[name]; ok && folder.Hash == hash {
				return folder, true, nil
			}
		}
		return inventory.Folder{}, false, nil
	})
	if p.Change.Record.PromotedCommit != "" && !p.Change.Record.Rollout.UnderWay() {
		b.PromotedCommitFile = record.PromotedCommitHash(p.Change.Record.PromotedCommit)
	}
	return b
}

// Delivered returns the state after the delivery of the change to a branch.
func (p *PlannedChange) Delivered(at record.Destination, head string) *past.State {
	t := p.Tree
	s := past.NewState(at, t.Wish.Environment)
	s.Delivered, s.DeliveredRecord, s.PromotedCommit = p.Change.Wanted, p.Change.RecordHash, t.Record.PromotedCommit
	s.Decisions = t.Rendered.Decisions
	s.Inputs, s.Base, s.LastRead, s.Cache = p.InputsAfter(), head, p.after(head), p.Cache
	s.Rollout = t.RolloutAfter(p.Change.Needed)
	s.WholeHashes = t.Wish.KeepsFailed()
	s.Remember(p.Before)
	return &s
}

// CommitMessage returns the configured message of the commit, or the default, which lists the changes.
func (p *PlannedChange) CommitMessage() string {
	t := p.Tree
	if t.Wish.Message != "" {
		return t.Wish.Message
	}
	changes := inventory.Changes(p.Change.Existing, p.Change.Wanted)
	var b strings.Builder
	b.WriteString(record.Message(t.Wish.Environment, changedObjects(p.Before, t.Wish)))
	names := slices.Sorted(maps.Keys(changes))
	if len(names) > 0 {
		b.WriteString("\n")
	}
	for i, name := range names {
		if i == problem.MaxListed {
			fmt.Fprintf(&b, "and %d more cluster types\n", len(names)-problem.MaxListed)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", printable.Line(name), changes[name])
	}
	if k := t.Failing; k != nil {
		fmt.Fprintf(&b, "\nFails to render: %d kept, %d left out\n", len(k.Kept), len(k.LeftOut))
	}
	if t.NewRollout {
		fmt.Fprintf(&b, "\nRollout: %s\n", t.Rollout.StageAndWave())
		if why := t.Rollout.RolledBack; why != "" {
			fmt.Fprintf(&b, "\n%s", promotion.Reason{Explanation: why}.Facts())
		}
	}
	if p.Change.Settles {
		b.WriteString("\nThe environment succeeded after an automatic rollback.\n")
	}
	if t.Wish.Promotion.Commit != "" && t.Complete {
		fmt.Fprintf(&b, "\nPromoted commit: %s\n", t.Wish.Promotion.Commit)
	}
	if facts := p.Change.Reason.Facts(); facts != "" {
		if !t.Complete {
			fmt.Fprintf(&b, "\nPromoted commit, in waves: %s\n", t.Wish.Promotion.Commit)
		}
		fmt.Fprintf(&b, "\n%s", facts)
	}
	return b.String()
}

// Promotes reports whether the change promotes another commit. After a move within the branch, and for folders adopted
// from the operator, no record at the destination names the previous commit.
func (p *PlannedChange) Promotes(s *past.State) bool {
	t, at := p.Tree, p.At
	promoted := t.Record.PromotedCommit
	switch {
	case !t.Complete:
		return false
	case at.Record != nil:
	case t.Wish.MovesWithin(s):
		return s.PromotedCommit != promoted
	case len(p.Change.Adoption.Adopted) > 0 && promoted != "":
		return at.PromotedCommitFile != record.PromotedCommitHash(promoted)
	}
	return at.PromotedCommit() != promoted
}

// TargetState returns the state of the target branch of a pull request, which does not contain the proposed tree yet.
func (p *PlannedChange) TargetState() *past.State {
	t := p.Tree
	s := past.NewState(t.Wish.Destination, t.Wish.Environment)
	if p.At.Record != nil {
		s.Environment = p.At.Record.Environment
	}
	s.Delivered = p.Change.Existing.Only(sets.Without(p.Change.Existing.Names(), p.Change.Adoption.Adopted))
	s.DeliveredRecord, s.PromotedCommit = p.At.RecordHash, p.At.PromotedCommit()
	if p.At.Record != nil {
		s.Decisions = p.At.Record.Decisions
	}
	s.Base, s.LastRead, s.Cache = p.At.Head, *p.At, p.Cache
	if s.Rollout = past.RolloutOf(p.At.Record, p.At.Time); t.Wish.Updates(p.Before) {
		s.Rollout = p.Before.Rollout
	}
	s.WholeHashes = t.Wish.KeepsFailed()
	if len(s.Delivered) > 0 {
		s.Inputs = p.Before.Inputs
	}
	s.Remember(p.Before)
	return &s
}

// InputsAfter returns the inputs of the tree of this apply. During a rollout, they are the inputs before it, so that
// each wave is described as a part of the same change.
func (p *PlannedChange) InputsAfter() *past.Inputs {
	if !p.Tree.Complete {
		return p.Before.Inputs
	}
	return p.Tree.Wish.Inputs()
}

// Computed returns the state of a rendering that is only computed.
func Computed(t *next.Next) *past.State {
	s := past.NewState(record.Destination{}, t.Wish.Environment)
	s.PromotedCommit, s.Inputs = t.Wish.Promotion.Commit, t.Wish.Inputs()
	s.Delivered, s.Decisions = t.Folders, t.Rendered.Decisions
	s.LastRead.Folders = s.Delivered
	s.WholeHashes = t.Wish.KeepsFailed()
	return &s
}
