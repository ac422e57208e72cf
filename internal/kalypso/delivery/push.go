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
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/sets"
)

// Result is what a delivery did.
type Result struct {
	Action   Action
	State    *State
	Commit   string       // the commit on the branch that contains the tree
	Pushed   bool         // false if the branch already contained the tree
	Applied  *AppliedTree // the tree of the apply, once the branch was read that it depends on
	Before   *State       // the state before the change, for [AppliedTree.Describe]
	Adoption Adoption
	// PullRequest is the pull request that proposes the tree or proposed it, or nil. Removals are the pull requests that
	// remove old locations.
	PullRequest *hosting.PullRequest
	Removals    []Removal
	// Kept is the old location, if it is a copy of the new one. Then it was not cleaned up.
	Kept *record.Destination
	// NoDraft warns that the host does not make the withheld pull request a draft; "": nothing to warn of.
	NoDraft string
	// Recovered is the state that was read from the branch because the private state could not be, if others changed the
	// branch meanwhile. The apply overwrites that. It is nil otherwise.
	Recovered *State
}

// Check reads the branch. It returns what the apply would change there that the state does not know, and an error if
// the apply would fail. It writes nothing. Without a tree, it only checks that the branch exists.
func Check(ctx context.Context, client *gitremote.Client, t *AppliedTree, s *State) (*BranchChange, error) {
	s = s.current()
	branch, err := gitops.Open(client, t.Destination.Repo, t.Destination.Branch)
	if err != nil {
		return nil, err
	}
	head, err := branch.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head.IsZero() && (!t.CreateBranch || t.Strategy != Push):
		return nil, gitops.ErrBranchNotFound
	case head.IsZero() || t.Tree == nil:
		return &BranchChange{}, nil
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	planned, err := readChange(t, snapshot, s)
	if err != nil {
		return nil, err
	}
	if t.updates(s) {
		return &BranchChange{Adoption: planned.Adoption}, nil
	}
	return branchChange(planned, snapshot)
}

// plannedChange is a change of a branch that was read.
type plannedChange struct {
	*Change
	tree *AppliedTree // that the branch must contain
	at   *BranchState
	// before is the state before the change, for [AppliedTree.Describe]. If the last apply is not known, it is what the
	// branch contains: our folders and the adopted ones.
	before *State
	cache  gitops.TreeCache
}

// readChange reads a branch, and decides what the apply changes there. It returns an error if the apply must not
// change it.
func readChange(t *AppliedTree, snapshot *gitops.Snapshot, s *State) (*plannedChange, error) {
	before := s
	if t.KeepsFailed() && s.Current() && !s.WholeHashes {
		before = s.withoutTargets() // so that their whole hashes are read
	}
	at, err := readBranch(snapshot, t.Destination, before, sets.Union(t.Target().Names(), t.Inventory().Names()))
	if err != nil {
		return nil, err
	}
	var old *BranchState
	if t.movesWithin(s) {
		if old, err = readBranch(snapshot, s.Destination, s, nil); err != nil {
			return nil, err
		}
	}
	p, err := planChange(t, s, at, old)
	if err != nil {
		return nil, err
	}
	if err := snapshot.Load(p.Remove...); err != nil { // so that moved folders are not sent again
		return nil, err
	}
	p.cache = snapshot.TreeCache(t.Destination.RecordPath())
	return p, nil
}

// planChange decides what the apply changes on a branch that contains at. old is what it contains at the destination
// before a move within it, or nil. It returns an error if the apply must not change it.
func planChange(t *AppliedTree, s *State, at, old *BranchState) (*plannedChange, error) {
	t = t.on(s, at)
	change, errs := (&comparison{t, s, at}).change(old)
	if errs = append(t.keptErrors(), errs...); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p := &plannedChange{Change: change, tree: t, at: at, before: s}
	if !s.Current() {
		p.before = at.asState(t.Destination, change.Existing)
	}
	return p, nil
}

// asState returns the state of a destination whose last apply is not known.
func (b *BranchState) asState(at record.Destination, existing Inventory) *State {
	s := &State{Destination: at, Delivered: existing, Seen: *b}
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
	for _, name := range sets.Without(p.at.Folders.Names(), p.Existing.Names()) {
		b.Folders[name] = p.at.Folders[name]
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

// delivered returns the state after the delivery of the change to a branch.
func (p *plannedChange) delivered(at record.Destination, head string) *State {
	t := p.tree
	s := newState(at, t.Environment)
	s.Delivered, s.DeliveredRecord, s.PromotedCommit = p.Wanted, p.RecordHash, t.AppliedPromotedCommit()
	s.Decisions = t.decisions
	s.Inputs, s.Base, s.Seen, s.Cache = p.inputsAfter(), head, p.after(head), p.cache
	s.Rollout = t.rolloutAfter(p.Needed)
	s.WholeHashes = t.KeepsFailed()
	s.remember(p.before)
	return &s
}

// Deliver commits the tree to its destination, and removes what was delivered to old locations. If others push at the
// same time, it retries on the new head. If it fails after the push, delivering again completes it.
func Deliver(
	ctx context.Context, client *gitremote.Client, t *AppliedTree, s *State, progress Progress,
) (*Result, error) {
	s = s.current()
	branch, err := gitops.Open(client, t.Destination.Repo, t.Destination.Branch)
	if err != nil {
		return nil, err
	}
	var last *plannedChange
	opts := gitops.UpdateOptions{CreateBranch: t.CreateBranch, Progress: progress, CachePath: t.Destination.RecordPath()}
	if t.updates(s) {
		opts.Cache = s.Cache
	}
	pushed, err := branch.Update(ctx, opts, func(_ context.Context, snapshot *gitops.Snapshot) (*gitops.Edit, error) {
		var err error
		if last, err = readChange(t, snapshot, s); err != nil || !last.Needed {
			return nil, err
		}
		return last.edit(), nil
	})
	if err != nil {
		return nil, err
	}
	kept, err := removeFromOldBranch(ctx, client, t.Arguments, s, pushed.Commit)
	if err == nil {
		err = removeFromOldLocations(ctx, client, t.Arguments, s)
	}
	if err != nil {
		return nil, fmt.Errorf(
			"the tree was pushed to its destination, but the old location, %s, was not "+
				"cleaned up; the next apply tries again: %w", s.Destination, err)
	}
	last.cache = pushed.Cache
	return &Result{
		State:  last.delivered(t.Destination, pushed.Commit.String()),
		Commit: pushed.Commit.String(), Pushed: pushed.Pushed,
		Applied: last.tree, Before: last.before, Adoption: last.Adoption, Kept: kept,
	}, nil
}

// removeFromOldBranch removes the rendering from the branch that it moves away from. If a branch of the same name
// contains the new commit too, it is the same branch under another URL, or a copy. Then it keeps the old location and
// returns it.
func removeFromOldBranch(
	ctx context.Context, client *gitremote.Client, a *Arguments, s *State, delivered plumbing.Hash,
) (*record.Destination, error) {
	if !a.moves(s) || a.movesWithin(s) || a.KeepOld {
		return nil, nil
	}
	old := s.Destination
	if old.Branch == a.Destination.Branch && old.Path == a.Destination.Path {
		branch, err := gitops.Open(client, old.Repo, old.Branch)
		if err != nil {
			return nil, err
		}
		if _, found, err := branch.History(ctx, delivered, nil); err != nil || found {
			return &old, err
		}
	}
	return nil, remove(ctx, client, s, moveMessage(s), a.Author, pathsToRemoveUnchanged)
}

// removeFromOldLocations removes the old locations whose removal had been proposed.
func removeFromOldLocations(ctx context.Context, client *gitremote.Client, a *Arguments, s *State) error {
	if s == nil || a.KeepOld {
		return nil
	}
	for _, old := range s.OldLocations {
		if old.State.Destination.Same(a.Destination) {
			continue
		}
		if err := remove(ctx, client, old.State, moveMessage(old.State), a.Author, pathsToRemoveUnchanged); err != nil {
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
func (p *plannedChange) commitMessage() string {
	t := p.tree
	if t.Message != "" {
		return t.Message
	}
	changes := Changes(p.Existing, p.Wanted)
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
		fmt.Fprintf(&b, "\nRollout: %s\n", t.rollout.Status())
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
