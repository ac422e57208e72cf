package remote

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Result is the result of a delivery.
type Result struct {
	State   *delivery.State
	Commit  string             // the commit on the branch that contains the tree
	Pushed  bool               // false if the branch already contained the tree
	Applied *delivery.NextTree // the tree of the apply, once the branch was read that it depends on
	Before  *delivery.State    // the state before the change, for [describe.Rendering]
	// FoundRecord is the hash of the record on the branch before the change, or "".
	FoundRecord string
	// PullRequest is the pull request that proposes the tree or proposed it, or nil. Removals are the pull requests that
	// remove old locations.
	PullRequest *githost.PullRequest
	Removals    []Removal
	// Kept is the old location if it is a copy of the new one, so that nothing was removed there.
	Kept *destination.Destination
	// NoDraft warns that the host does not make the withheld pull request a draft; "": nothing to warn of.
	NoDraft string
	// Recovered is the state that was read from the branch in place of an unreadable private state, if the apply
	// overwrites foreign changes there. It is nil otherwise.
	Recovered *delivery.State
}

// Check reads the branch. It returns the change of the apply there, with its effects if the state does not know the
// branch, and an error if the apply would fail. It writes nothing. Without a tree, it only checks that the branch
// exists.
func Check(
	ctx context.Context, client *gitremote.Client, t *delivery.NextTree, s *delivery.State,
) (change *delivery.Change, told []string, err error) {
	s = s.OrNil()
	snapshot, err := gitbranch.ReadHead(ctx, client, t.Args.Destination.Repo, t.Args.Destination.Branch)
	if err != nil {
		return nil, nil, err
	}
	defer snapshot.Close()
	switch {
	case snapshot.Commit.IsZero() && (!t.Args.CreateBranch || t.Args.Strategy != destination.Push):
		return nil, nil, gitbranch.ErrBranchNotFound
	case t.Rendered.Tree == nil:
		return nil, nil, nil
	}
	change, err = readChange(t, snapshot, s)
	if err == nil && change.Case != delivery.Update {
		told, err = effects(change, snapshot)
	}
	return change, told, err
}

// readChange reads a branch, and decides what the apply changes on it. It returns an error if the apply must not
// change the branch.
func readChange(t *delivery.NextTree, snapshot *gitbranch.Snapshot, s *delivery.State) (*delivery.Change, error) {
	before := s
	if t.Args.KeepFailed && s.Current() && !s.WholeHashes {
		before = s.WithoutTargets() // so that the whole hashes of the targets are read
	}
	at, err := readBranch(snapshot, t.Args.Destination, before, sets.Union(t.Target().Names(), t.Folders.Names()))
	if err != nil {
		return nil, err
	}
	var old *delivery.Branch
	if delivery.CaseOf(t.Args, s) == delivery.MoveWithin {
		old, err = readBranch(snapshot, s.Destination, s, nil)
		if err != nil {
			return nil, err
		}
	}
	change, err := delivery.CompareWithBranch(t, s, at, old)
	if err != nil {
		return nil, err
	}
	if err := snapshot.Load(change.Remove...); err != nil { // so that moved folders are not sent again
		return nil, err
	}
	return change, nil
}

// Deliver commits the tree to its destination, and removes the tree from previous locations. If another push comes
// first, it retries on the new head. If it fails after the push, delivering again completes it.
func Deliver(
	ctx context.Context, client *gitremote.Client, t *delivery.NextTree, s *delivery.State, progress delivery.Progress,
) (*Result, error) {
	s = s.OrNil()
	branch, err := gitbranch.Open(client, t.Args.Destination.Repo, t.Args.Destination.Branch)
	if err != nil {
		return nil, err
	}
	opts := gitbranch.PushOptions{
		CreateBranch: t.Args.CreateBranch, Progress: progress, CachePath: t.Args.Destination.RecordPath(),
	}
	if delivery.CaseOf(t.Args, s) == delivery.Update {
		opts.Cache = s.Cache
	}
	var change *delivery.Change
	var pushed gitbranch.PushResult
	for attempt, err := range branch.Attempts(ctx, opts) {
		if err != nil {
			return nil, err
		}
		change, err = readChange(t, attempt.Base, s)
		if err != nil {
			return nil, attempt.Failed(err)
		}
		var edit *gitbranch.Edit
		if change.Needed {
			edit = change.Edit(describe.CommitMessage(change))
		}
		pushed, err = attempt.Push(ctx, edit)
		if err == nil {
			break
		}
	}
	kept, err := removeOld(ctx, client, t.Args, s, pushed.Commit)
	if err != nil {
		return nil, fmt.Errorf(
			"the tree was pushed to its destination, but the old location, %s, was not "+
				"cleaned up; the next apply tries again: %w", s.Destination, err)
	}
	state := change.Delivered(t.Args.Destination, pushed.Commit.String())
	state.Cache = pushed.Cache
	return &Result{
		State: state, Commit: pushed.Commit.String(), Pushed: pushed.Pushed,
		Applied: change.Next, Before: change.Before, FoundRecord: change.Branch.RecordHash, Kept: kept,
	}, nil
}

// removeOld removes the rendering from the branch that it moves away from, and from the old locations whose removal had
// been proposed. A branch of the same name that contains the new commit is the same branch under another URL, or a
// copy: then nothing is removed there, and it is returned.
func removeOld(
	ctx context.Context, client *gitremote.Client, a *delivery.Arguments, s *delivery.State, delivered plumbing.Hash,
) (kept *destination.Destination, err error) {
	if s == nil || a.KeepOld {
		return nil, nil
	}
	var left []*delivery.State
	if delivery.CaseOf(a, s) == delivery.Move {
		switch same, err := isCopy(ctx, client, s.Destination, a.Destination, delivered); {
		case err != nil:
			return nil, err
		case same:
			kept = &s.Destination
		default:
			left = append(left, s)
		}
	}
	for _, old := range s.OldLocations {
		if !old.State.Destination.Same(a.Destination) {
			left = append(left, old.State)
		}
	}
	for _, old := range left {
		commit := RemovalCommit{Message: moveMessage(old), Author: a.Author, IfUnchanged: true}
		if err := Remove(ctx, client, old, commit); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// isCopy reports whether old is on a branch of the same name as now that contains a commit.
func isCopy(
	ctx context.Context, client *gitremote.Client, old, now destination.Destination, commit plumbing.Hash,
) (same bool, err error) {
	if old.Branch != now.Branch || old.Path != now.Path {
		return false, nil
	}
	branch, err := gitbranch.Open(client, old.Repo, old.Branch)
	if err == nil {
		_, same, err = branch.ChangesSince(ctx, commit, nil)
	}
	return same, err
}

func moveMessage(s *delivery.State) string {
	return fmt.Sprintf("Move the rendering of environment %s away", s.Environment)
}

func removalMessage(s *delivery.State) string {
	return "Remove the rendering of environment " + s.Environment
}

// RemovalCommit is the commit that removes a rendering from its branch.
type RemovalCommit struct {
	Message string
	Author  gitbranch.Author
	// IfUnchanged refuses the removal if our folders changed after the plan was made: the plan of a move has not shown
	// that it removes foreign changes.
	IfUnchanged bool
}

// Remove removes our folders and our record from a destination. It does nothing if the branch does not exist.
func Remove(ctx context.Context, client *gitremote.Client, s *delivery.State, commit RemovalCommit) error {
	branch, err := gitbranch.Open(client, s.Destination.Repo, s.Destination.Branch)
	if err != nil {
		return err
	}
	for attempt, err := range branch.Attempts(ctx, gitbranch.PushOptions{}) {
		if err != nil {
			return err
		}
		at, err := readBranch(attempt.Base, s.Destination, s, nil)
		if err != nil {
			return attempt.Failed(err)
		}
		paths, err := delivery.PathsToRemove(s, at)
		if commit.IfUnchanged {
			paths, err = delivery.PathsToRemoveUnchanged(s, at)
		}
		if err != nil || len(paths) == 0 {
			return err
		}
		_, err = attempt.Push(ctx, &gitbranch.Edit{
			Remove: paths, Message: commit.Message, NoTrailers: true, Author: commit.Author,
		})
		if err == nil {
			break
		}
	}
	return nil
}
