package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// Progress hears how far long work is; a total of 0 is not known.
type Progress func(stage string, done, total int)

// Result is what a delivery did.
type Result struct {
	State    *State
	Commit   string // the commit on the branch that holds the tree
	Pushed   bool   // false: the branch held it already
	Before   *State // what was changed, for [Desired.Describe]
	Adoption Adoption
	// PullRequest is the one that proposes the tree, or did; nil where there is none. Removals are others, which take away what
	// was delivered to other branches before.
	PullRequest *hosting.PullRequest
	Removals    []Removal
	// Kept is the destination that was left, where it is a copy of the new one, and so was not cleaned.
	Kept *Destination
}

// Check reads the branch, and returns what the apply would change there that the state does not know, and why it could not
// deliver to the branch as it is. It writes nothing. Without a tree, only the branch is looked for.
func Check(ctx context.Context, client *gitremote.Client, d *Desired, s *State) (*BranchChange, error) {
	s = s.current()
	branch, err := gitops.Open(client, d.Destination.Repo, d.Destination.Branch)
	if err != nil {
		return nil, err
	}
	head, err := branch.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head.IsZero() && (!d.CreateBranch || d.Strategy != Push):
		return nil, gitops.ErrBranchNotFound
	case head.IsZero() || d.Tree == nil:
		return &BranchChange{}, nil
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	planned, err := d.planChange(snapshot, s)
	if err != nil {
		return nil, err
	}
	if d.updates(s) {
		return &BranchChange{Adoption: planned.Adoption}, nil
	}
	return d.changeOf(snapshot, planned)
}

// plannedChange is a change to a branch as it was read.
type plannedChange struct {
	*Change
	at *BranchState
	// before is what is changed, for [Desired.Describe]: what was delivered, or where that is not known, what the branch holds of
	// ours or is adopted.
	before *State
	cache  gitops.TreeCache
}

// planChange reads a branch, and decides what the apply changes there. What is not ours to change is an error.
func (d *Desired) planChange(snapshot *gitops.Snapshot, s *State) (*plannedChange, error) {
	at, err := readBranch(snapshot, d.Destination, s, union(d.Target().Names(), d.Inventory().Names()))
	if err != nil {
		return nil, err
	}
	d.resolveUnread(s, at)
	var old *BranchState
	if d.movesWithin(s) {
		if old, err = readBranch(snapshot, s.Destination, s, nil); err != nil {
			return nil, err
		}
	}
	change, errs := d.change(s, at, old)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if err := snapshot.Load(change.Remove...); err != nil { // what moves is not sent again
		return nil, err
	}
	p := &plannedChange{Change: change, at: at, before: s, cache: snapshot.TreeCache(d.Destination.RecordPath())}
	if !s.Current() {
		p.before = at.asState(d.Destination, change.Held)
	}
	return p, nil
}

// asState returns what a destination holds of a rendering of which nothing was kept.
func (b *BranchState) asState(at Destination, held Inventory) *State {
	s := &State{Destination: at, Delivered: held, Seen: *b}
	if b.Record != nil {
		s.PromotedCommit, s.Inputs = b.Record.PromotedCommit, inputsOf(b.Record)
	}
	return s
}

// after returns the branch as the change makes it, or finds it.
func (p *plannedChange) after(head string) BranchState {
	b := *p.at
	b.Head = head
	if !p.Needed {
		return b
	}
	b.Folders = Inventory{}
	for _, name := range without(p.at.Folders.Names(), p.Held.Names()) {
		b.Folders[name] = p.at.Folders[name]
	}
	for name, folder := range p.Wanted {
		b.Folders[name] = folder
	}
	ours := union(p.Held.Names(), p.Wanted.Names())
	b.Files = without(b.Files, ours)
	b.Operators = without(b.Operators, ours)
	b.Record, b.RecordHash, b.RecordError = &p.Record, p.RecordHash, ""
	if p.Record.PromotedCommit != "" && !p.Record.Rollout.UnderWay() {
		b.PromotedCommitFile = blobHash([]byte(p.Record.PromotedCommit))
	}
	return b
}

// delivered returns the state of a branch that holds what is desired.
func (d *Desired) delivered(at Destination, p *plannedChange, head string) *State {
	s := newState(at, d.Environment)
	s.Delivered, s.DeliveredRecord, s.PromotedCommit = p.Wanted, p.RecordHash, d.AppliedPromotedCommit()
	s.Decisions = d.Decisions()
	s.Inputs, s.Base, s.Seen, s.Cache = d.inputsAfter(p.before), head, p.after(head), p.cache
	s.Rollout = d.rolloutAfter(p.Needed)
	return &s
}

// Deliver brings the tree to its destination in one commit, and removes what was delivered elsewhere before. It begins again
// on the new head where others push at the same time. Where it fails after it wrote to the new destination, doing it again
// completes it.
func Deliver(ctx context.Context, client *gitremote.Client, d *Desired, s *State, progress Progress) (*Result, error) {
	s = s.current()
	branch, err := gitops.Open(client, d.Destination.Repo, d.Destination.Branch)
	if err != nil {
		return nil, err
	}
	var last *plannedChange
	opts := gitops.UpdateOptions{CreateBranch: d.CreateBranch, Progress: progress, CachePath: d.Destination.RecordPath()}
	if d.updates(s) {
		opts.Cache = s.Cache
	}
	pushed, err := branch.Update(ctx, opts, func(_ context.Context, snapshot *gitops.Snapshot) (*gitops.Edit, error) {
		var err error
		if last, err = d.planChange(snapshot, s); err != nil || !last.Needed {
			return nil, err
		}
		return d.edit(last.Change), nil
	})
	if err != nil {
		return nil, err
	}
	kept, err := d.cleanUp(ctx, client, s, pushed.Commit)
	if err == nil {
		err = d.removeOldPlaces(ctx, client, s)
	}
	if err != nil {
		return nil, fmt.Errorf("the tree was written to its new place, and the old one, %s, could not be cleaned; the next apply tries again: %w",
			s.Destination, err)
	}
	last.cache = pushed.Cache
	return &Result{
		State: d.delivered(d.Destination, last, pushed.Commit.String()), Commit: pushed.Commit.String(), Pushed: pushed.Pushed,
		Before: last.before, Adoption: last.Adoption, Kept: kept,
	}, nil
}

// cleanUp removes what was delivered before from another branch. A branch of the same name that holds the commit too is
// the same one under another URL, or a copy of it: that destination is kept and returned.
func (d *Desired) cleanUp(ctx context.Context, client *gitremote.Client, s *State, delivered plumbing.Hash) (*Destination, error) {
	if !d.moves(s) || d.movesWithin(s) || d.KeepOld {
		return nil, nil
	}
	old := s.Destination
	if old.Branch == d.Destination.Branch && old.Path == d.Destination.Path {
		branch, err := gitops.Open(client, old.Repo, old.Branch)
		if err != nil {
			return nil, err
		}
		if _, found, err := branch.History(ctx, delivered, nil); err != nil || found {
			return &old, err
		}
	}
	return nil, remove(ctx, client, s, d.removalMessage(s), d.Author, pathsToRemoveUnchanged)
}

// removeOldPlaces removes what pull requests were to remove.
func (d *Desired) removeOldPlaces(ctx context.Context, client *gitremote.Client, s *State) error {
	if s == nil || d.KeepOld {
		return nil
	}
	for _, old := range s.OldPlaces {
		if old.State.Destination.Same(d.Destination) {
			continue
		}
		if err := remove(ctx, client, old.State, d.removalMessage(old.State), d.Author, pathsToRemoveUnchanged); err != nil {
			return err
		}
	}
	return nil
}

func (d *Desired) removalMessage(s *State) string {
	return fmt.Sprintf("Move the rendering of environment %s away", s.Environment)
}

// Remove removes what was delivered, in one commit: our folders and our record. A branch that is gone holds nothing of
// ours.
func Remove(ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Signature) error {
	return remove(ctx, client, s, message, author, pathsToRemove)
}

func remove(ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Signature,
	paths func(*State, *BranchState) ([]string, error),
) error {
	branch, err := gitops.Open(client, s.Destination.Repo, s.Destination.Branch)
	if err != nil {
		return err
	}
	_, err = branch.Update(ctx, gitops.UpdateOptions{}, func(_ context.Context, snapshot *gitops.Snapshot) (*gitops.Edit, error) {
		at, err := readBranch(snapshot, s.Destination, s, nil)
		if err != nil {
			return nil, err
		}
		remove, err := paths(s, at)
		if err != nil || len(remove) == 0 {
			return nil, err
		}
		return &gitops.Edit{Remove: remove, Message: message, Author: author}, nil
	})
	if errors.Is(err, gitops.ErrBranchNotFound) {
		return nil
	}
	return err
}

// commitMessage returns the message of the commit that makes the changes.
func (d *Desired) commitMessage(c *Change) string {
	if d.Message != "" {
		return d.Message
	}
	changes := Changes(c.Held, c.Wanted)
	var b strings.Builder
	fmt.Fprintf(&b, "Render environment %s\n", d.Environment)
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 0 {
		b.WriteString("\n")
	}
	for i, name := range names {
		if i == listed {
			fmt.Fprintf(&b, "and %d more cluster types\n", len(names)-listed)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", printable.Line(name), changes[name])
	}
	if a := d.applied(); a.begun {
		fmt.Fprintf(&b, "\nRollout: %s\n", a.rollout.Status())
	}
	if d.PromotedCommit != "" && d.Complete() {
		fmt.Fprintf(&b, "\nPromoted commit: %s\n", d.PromotedCommit)
	}
	if d.Promotion != nil && c.Promotes {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(printable.Text(d.Promotion.Summary)))
	}
	return b.String()
}
