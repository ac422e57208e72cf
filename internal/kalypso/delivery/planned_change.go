package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// PlannedChange is a change of a branch that was read.
type PlannedChange struct {
	*Change
	Tree *AppliedTree // that the branch must contain
	At   *BranchState
	// Before is the state before the change, for [AppliedTree.Describe]. If the last apply is not known, it contains
	// the branch's folders: ours and the adopted ones.
	Before *State
	Cache  gitbranch.TreeCache
}

// PlanChange decides on the change of a branch that contains at. old is the destination before a move within the
// branch, or nil. It returns an error if the apply must not change it.
func PlanChange(t *AppliedTree, s *State, at, old *BranchState) (*PlannedChange, error) {
	t = t.on(s, at)
	change, errs := (&comparison{t, s, at}).change(old)
	if errs = append(keptErrors(t), errs...); len(errs) > 0 {
		return nil, RefusalErrors(errs)
	}
	p := &PlannedChange{Change: change, Tree: t, At: at, Before: s}
	if !s.Current() {
		p.Before = at.asState(t.Destination, change.Existing)
	}
	return p, nil
}

// RefusalErrors are all reasons why an apply must not change a branch.
type RefusalErrors []error

// Error implements error.
func (e RefusalErrors) Error() string { return errors.Join(e...).Error() }

// Unwrap returns the reasons.
func (e RefusalErrors) Unwrap() []error { return e }

// asState returns the state of a destination whose last apply is not known.
func (b *BranchState) asState(at record.Destination, existing inventory.Folders) *State {
	s := &State{Destination: at, Delivered: existing, Seen: *b}
	if b.Record != nil {
		s.PromotedCommit, s.Inputs = b.Record.PromotedCommit, InputsOf(b.Record)
	}
	return s
}

// after returns the branch after the change, with its head.
func (p *PlannedChange) after(head string) BranchState {
	b := *p.At
	b.Head = head
	if !p.Needed {
		return b
	}
	b.Folders = inventory.Folders{}
	for _, name := range sets.Without(p.At.Folders.Names(), p.Existing.Names()) {
		b.Folders[name] = p.At.Folders[name]
	}
	for name, folder := range p.Wanted {
		b.Folders[name] = folder
	}
	ours := sets.Union(p.Existing.Names(), p.Wanted.Names())
	b.Files = sets.Without(b.Files, ours)
	b.OperatorFolders = sets.Without(b.OperatorFolders, ours)
	b.Record, b.RecordHash, b.RecordError = &p.Record, p.RecordHash, ""
	if p.Record.PromotedCommit != "" && !p.Record.Rollout.UnderWay() {
		b.PromotedCommitFile = record.PromotedCommitHash(p.Record.PromotedCommit)
	}
	return b
}

// Delivered returns the state after the delivery of the change to a branch.
func (p *PlannedChange) Delivered(at record.Destination, head string) *State {
	t := p.Tree
	s := NewState(at, t.Environment)
	s.Delivered, s.DeliveredRecord, s.PromotedCommit = p.Wanted, p.RecordHash, t.AppliedPromotedCommit()
	s.Decisions = t.decisions
	s.Inputs, s.Base, s.Seen, s.Cache = p.InputsAfter(), head, p.after(head), p.Cache
	s.Rollout = t.RolloutAfter(p.Needed)
	s.WholeHashes = t.KeepsFailed()
	s.Remember(p.Before)
	return &s
}

// CommitMessage returns the configured message of the commit, or the default, which lists the changes.
func (p *PlannedChange) CommitMessage() string {
	t := p.Tree
	if t.Message != "" {
		return t.Message
	}
	changes := inventory.Changes(p.Existing, p.Wanted)
	var b strings.Builder
	fmt.Fprintf(&b, "Render environment %s\n", t.Environment)
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 0 {
		b.WriteString("\n")
	}
	for i, name := range names {
		if i == MaxListed {
			fmt.Fprintf(&b, "and %d more cluster types\n", len(names)-MaxListed)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", printable.Line(name), changes[name])
	}
	if k := t.kept; k != nil {
		fmt.Fprintf(&b, "\nFails to render: %d kept, %d left out\n", len(k.kept), len(k.leftOut))
	}
	if t.begun {
		fmt.Fprintf(&b, "\nRollout: %s\n", t.rollout.StageAndWave())
	}
	if t.Promotion.Commit != "" && t.Complete() {
		fmt.Fprintf(&b, "\nPromoted commit: %s\n", t.Promotion.Commit)
	}
	if facts := p.Reason.Facts(); facts != "" {
		if !t.Complete() {
			fmt.Fprintf(&b, "\nPromoted commit, in waves: %s\n", t.Promotion.Commit)
		}
		fmt.Fprintf(&b, "\n%s", facts)
	}
	return b.String()
}
