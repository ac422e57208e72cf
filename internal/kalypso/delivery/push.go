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
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// Progress receives the progress of long work. A total of 0 means that the total is not known.
type Progress func(stage string, done, total int)

// Result is what a delivery did.
type Result struct {
	Action   Action
	State    *State
	Commit   string // the commit on the branch that holds the tree
	Pushed   bool   // false if the branch already held the tree
	Before   *State // the state before the change, for [Desired.Describe]
	Adoption Adoption
	// PullRequest is the pull request that proposes the tree or proposed it, or nil. Removals are the pull requests that
	// remove old locations.
	PullRequest *hosting.PullRequest
	Removals    []Removal
	// Kept is the old location, if it is a copy of the new one. Then it was not cleaned up.
	Kept *record.Destination
	// NoDraft warns that the host does not make the withheld pull request a draft; "": nothing to warn of.
	NoDraft  string
	Warnings problem.Problems
}

// Check reads the branch. It returns what the apply would change there that the state does not know, and an error if
// the apply would fail. It writes nothing. Without a tree, it only checks that the branch exists.
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

// plannedChange is a change of a branch that was read.
type plannedChange struct {
	*Change
	at *BranchState
	// before is the state before the change, for [Desired.Describe]. If the last apply is not known, it is what the branch
	// holds: our folders and the adopted ones.
	before *State
	cache  gitops.TreeCache
}

// planChange reads a branch, and decides what the apply changes there. It returns an error if the apply must not
// change it.
func (d *Desired) planChange(snapshot *gitops.Snapshot, s *State) (*plannedChange, error) {
	before := s
	if d.KeepsFailed() && s.Current() && !s.WholeHashes {
		before = s.withoutTargets() // so that their whole hashes are read
	}
	at, err := readBranch(snapshot, d.Destination, before, union(d.Target().Names(), d.Inventory().Names()))
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
	if errs = append(d.keptErrors(), errs...); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if err := snapshot.Load(change.Remove...); err != nil { // so that moved folders are not sent again
		return nil, err
	}
	p := &plannedChange{Change: change, at: at, before: s, cache: snapshot.TreeCache(d.Destination.RecordPath())}
	if !s.Current() {
		p.before = at.asState(d.Destination, change.Held)
	}
	return p, nil
}

// asState returns the state of a destination whose last apply is not known.
func (b *BranchState) asState(at record.Destination, held Inventory) *State {
	s := &State{Destination: at, Delivered: held, Seen: *b}
	if b.Record != nil {
		s.PromotedCommit, s.Inputs = b.Record.PromotedCommit, inputsOf(b.Record)
	}
	return s
}

// after returns the branch after the change, with its head.
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
	b.OperatorFolders = without(b.OperatorFolders, ours)
	b.Record, b.RecordHash, b.RecordError = &p.Record, p.RecordHash, ""
	if p.Record.PromotedCommit != "" && !p.Record.Rollout.UnderWay() {
		b.PromotedCommitFile = record.PromotedCommitHash(p.Record.PromotedCommit)
	}
	return b
}

// delivered returns the state after the delivery of p to a branch.
func (d *Desired) delivered(at record.Destination, p *plannedChange, head string) *State {
	s := newState(at, d.Environment)
	s.Delivered, s.DeliveredRecord, s.PromotedCommit = p.Wanted, p.RecordHash, d.AppliedPromotedCommit()
	s.Decisions = d.Decisions()
	s.Inputs, s.Base, s.Seen, s.Cache = d.inputsAfter(p.before), head, p.after(head), p.cache
	s.Rollout = d.rolloutAfter(p.Needed)
	s.WholeHashes = d.KeepsFailed()
	s.remember(p.before)
	return &s
}

// Deliver commits the tree to its destination, and removes what was delivered to old locations. If others push at the
// same time, it retries on the new head. If it fails after the push, delivering again completes it.
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
	kept, err := d.removeFromOldBranch(ctx, client, s, pushed.Commit)
	if err == nil {
		err = d.removeFromOldLocations(ctx, client, s)
	}
	if err != nil {
		return nil, fmt.Errorf(
			"the tree was pushed to its destination, but the old location, %s, was not "+
				"cleaned up; the next apply tries again: %w", s.Destination, err)
	}
	last.cache = pushed.Cache
	return &Result{
		State:  d.delivered(d.Destination, last, pushed.Commit.String()),
		Commit: pushed.Commit.String(), Pushed: pushed.Pushed,
		Before: last.before, Adoption: last.Adoption, Kept: kept,
	}, nil
}

// removeFromOldBranch removes the rendering from the branch that it moves away from. If a branch of the same name
// holds the new commit too, it is the same branch under another URL, or a copy. Then it keeps the old location and
// returns it.
func (d *Desired) removeFromOldBranch(
	ctx context.Context, client *gitremote.Client, s *State, delivered plumbing.Hash,
) (*record.Destination, error) {
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
	return nil, remove(ctx, client, s, moveMessage(s), d.Author, pathsToRemoveUnchanged)
}

// removeFromOldLocations removes the old locations whose removal had been proposed.
func (d *Desired) removeFromOldLocations(ctx context.Context, client *gitremote.Client, s *State) error {
	if s == nil || d.KeepOld {
		return nil
	}
	for _, old := range s.OldLocations {
		if old.State.Destination.Same(d.Destination) {
			continue
		}
		if err := remove(ctx, client, old.State, moveMessage(old.State), d.Author, pathsToRemoveUnchanged); err != nil {
			return err
		}
	}
	return nil
}

func moveMessage(s *State) string {
	return fmt.Sprintf("Move the rendering of environment %s away", s.Environment)
}

func removalMessage(s *State) string { return "Remove the rendering of environment " + s.Environment }

// Remove removes our folders and our record in one commit. It does nothing if the branch does not exist.
func Remove(ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Author) error {
	return remove(ctx, client, s, message, author, pathsToRemove)
}

func remove(ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Author,
	paths func(*State, *BranchState) ([]string, error),
) error {
	branch, err := gitops.Open(client, s.Destination.Repo, s.Destination.Branch)
	if err != nil {
		return err
	}
	edit := func(_ context.Context, snapshot *gitops.Snapshot) (*gitops.Edit, error) {
		at, err := readBranch(snapshot, s.Destination, s, nil)
		if err != nil {
			return nil, err
		}
		remove, err := paths(s, at)
		if err != nil || len(remove) == 0 {
			return nil, err
		}
		return &gitops.Edit{Remove: remove, Message: message, Author: author}, nil
	}
	_, err = branch.Update(ctx, gitops.UpdateOptions{}, edit)
	if errors.Is(err, gitops.ErrBranchNotFound) {
		return nil
	}
	return err
}

// commitMessage returns the configured message of the commit, or the default, which lists the changes.
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
		if i == maxListed {
			fmt.Fprintf(&b, "and %d more cluster types\n", len(names)-maxListed)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", printable.Line(name), changes[name])
	}
	if k := d.keptTree(); k != nil {
		fmt.Fprintf(&b, "\nFails to render: %d kept, %d left out\n", len(k.kept), len(k.leftOut))
	}
	if a := d.applied(); a.begun {
		fmt.Fprintf(&b, "\nRollout: %s\n", a.rollout.Status())
	}
	if d.Promotion.Commit != "" && d.Complete() {
		fmt.Fprintf(&b, "\nPromoted commit: %s\n", d.Promotion.Commit)
	}
	if facts := c.Reason.Facts(); facts != "" {
		if !d.Complete() {
			fmt.Fprintf(&b, "\nPromoted commit, in waves: %s\n", d.Promotion.Commit)
		}
		fmt.Fprintf(&b, "\n%s", facts)
	}
	return b.String()
}
