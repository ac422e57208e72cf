package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// Receipt is what a delivery did.
type Receipt struct {
	State    *State
	Commit   string // the commit on the branch that holds the tree
	Pushed   bool   // false: the branch held it already
	Changes  map[string]string
	Before   *State // what was changed, for [Order.Describe]
	Takeover Takeover
	// PullRequest is the one that proposes the tree, or did; nil where there is none. Removal is another one, that takes
	// away what was delivered to another branch before.
	PullRequest, Removal *hosting.PullRequest
	// Kept is the place that was left, where it is a copy of the new one, and so was not cleaned.
	Kept *Place
}

// Check returns why the order could not be delivered to the branch as it is, or nil, and what it would take over. It
// writes nothing. Without a tree, only the branch is looked for.
func Check(ctx context.Context, client *gitremote.Client, o *Order) (Takeover, error) {
	branch, err := gitops.Open(client, o.Place.Repo, o.Place.Branch)
	if err != nil {
		return Takeover{}, err
	}
	head, err := branch.Head(ctx)
	switch {
	case err != nil:
		return Takeover{}, err
	case head.IsZero() && !o.CreateBranch:
		return Takeover{}, gitops.ErrBranchNotFound
	case head.IsZero() || o.Tree == nil:
		return Takeover{}, nil
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return Takeover{}, err
	}
	defer snapshot.Close()
	d, err := o.draft(snapshot)
	if err != nil {
		return Takeover{}, err
	}
	return d.takeover, nil
}

// Deliver brings the order to its place in one commit, and removes what was delivered elsewhere before. It is done again
// on the new head where others push at the same time. Where it fails after it wrote to the new place, doing it again
// completes it.
func Deliver(ctx context.Context, client *gitremote.Client, o *Order, progress func(stage string, done, total int)) (*Receipt, error) {
	branch, err := gitops.Open(client, o.Place.Repo, o.Place.Branch)
	if err != nil {
		return nil, err
	}
	var last *draft
	opts := gitops.UpdateOptions{CreateBranch: o.CreateBranch, Progress: progress, Known: o.known(), WayTo: o.Place.RecordPath()}
	result, err := branch.Update(ctx, opts,
		func(_ context.Context, snapshot *gitops.Snapshot) (*gitops.Edit, error) {
			var err error
			if last, err = o.draft(snapshot); err != nil {
				return nil, err
			}
			return last.edit, nil
		})
	if err != nil {
		return nil, err
	}
	kept, err := o.cleanUp(ctx, client, result.Commit)
	if err != nil {
		return nil, fmt.Errorf("the tree was written to its new place, and the old one, %s, could not be cleaned; the next apply tries again: %w", o.Before.Place, err)
	}
	delivered, head := last.wanted, result.Commit.String()
	return &Receipt{
		State: &State{
			Version: stateVersion, Engine: engineVersion, Build: build(),
			Place: o.Place, Environment: o.Environment,
			Delivered: delivered, DeliveredRecord: last.recordHash, PromotedCommit: o.PromotedCommit, Inputs: o.inputs().pack(), Base: head,
			Head: head, Way: result.Way, Seen: delivered, SeenRecord: last.recordHash, Others: last.others, Files: last.files,
		},
		Commit:   head,
		Pushed:   result.Pushed,
		Changes:  last.changes,
		Before:   last.before,
		Takeover: last.takeover,
		Kept:     kept,
	}, nil
}

// cleanUp removes what was delivered before from another branch. A branch of the same name that holds the commit too is
// the same one under another URL, or a copy of it: that place is kept and returned.
func (o *Order) cleanUp(ctx context.Context, client *gitremote.Client, delivered plumbing.Hash) (*Place, error) {
	if !o.moves() || o.Place.SameBranch(o.Before.Place) {
		return nil, nil
	}
	old := o.Before.Place
	if old.Branch == o.Place.Branch && old.Path == o.Place.Path {
		branch, err := gitops.Open(client, old.Repo, old.Branch)
		if err != nil {
			return nil, err
		}
		if _, found, err := branch.History(ctx, delivered, nil); err != nil || found {
			return &old, err
		}
	}
	message := fmt.Sprintf("Move the rendering of environment %s away", o.Before.Environment)
	return nil, withdraw(ctx, client, old, message, o.Author, func(at *survey) ([]string, error) {
		return departure(at, o.Before)
	})
}

// Withdraw removes what was delivered, in one commit: our folders and our record. A branch that is gone holds nothing of
// ours.
func Withdraw(ctx context.Context, client *gitremote.Client, s *State, message string, author gitops.Signature) error {
	return withdraw(ctx, client, s.Place, message, author, func(at *survey) ([]string, error) { return withdrawal(at, s) })
}

func withdraw(ctx context.Context, client *gitremote.Client, place Place, message string, author gitops.Signature, paths func(*survey) ([]string, error)) error {
	branch, err := gitops.Open(client, place.Repo, place.Branch)
	if err != nil {
		return err
	}
	_, err = branch.Update(ctx, gitops.UpdateOptions{}, func(_ context.Context, snapshot *gitops.Snapshot) (*gitops.Edit, error) {
		at, err := newSurvey(snapshot, place, nil)
		if err != nil {
			return nil, err
		}
		remove, err := paths(at)
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

// departure is the withdrawal from a place that is left, provided that it is as the plan saw it.
func departure(at *survey, s *State) ([]string, error) {
	moved, err := at.unlike(s)
	if err == nil && len(moved) > 0 {
		err = &MovedError{s.Place, moved}
	}
	if err != nil {
		return nil, err
	}
	return withdrawal(at, s)
}

// withdrawal are the paths of what is ours at a place: what our record lists, and the record. Where the record is gone,
// only folders that are still as they were delivered are known to be ours.
func withdrawal(at *survey, s *State) ([]string, error) {
	var names, paths []string
	switch r := at.record; {
	case at.broken != nil:
		return nil, at.broken
	case r == nil:
		for name, hash := range at.hashes(s.Delivered.Names()) {
			if hash == s.Delivered[name].Hash {
				names = append(names, name)
			}
		}
	case r.Environment != s.Environment:
		return nil, &OwnershipError{Place: s.Place, Reason: fmt.Sprintf(
			"the record %s says that this is now the rendering of environment %q, not of %q. Nothing was removed.", at.place.RecordPath(), r.Environment, s.Environment)}
	default:
		names = slices.Collect(maps.Keys(at.hashes(r.ClusterTypes)))
		paths = append(paths, at.place.RecordPath())
	}
	slices.Sort(names)
	for _, name := range names {
		paths = append(paths, at.place.Join(name))
	}
	return paths, nil
}

// Observe reads the branch and returns the state with what it holds now. It is one reference look-up where the branch's
// head is the one last seen. A branch that is gone is [gitops.ErrBranchNotFound].
func Observe(ctx context.Context, client *gitremote.Client, s *State) (*State, error) {
	branch, err := gitops.Open(client, s.Place.Repo, s.Place.Branch)
	if err != nil {
		return nil, err
	}
	head, err := branch.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head.IsZero():
		return nil, gitops.ErrBranchNotFound
	case head.String() == s.Head:
		return s, nil
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	at, err := newSurvey(snapshot, s.Place, s)
	if err != nil {
		return nil, err
	}
	now := *s
	now.Head, now.Way = snapshot.Commit.String(), snapshot.Way(s.Place.RecordPath())
	if now.Seen, err = at.footprint(slices.Concat(s.Delivered.Names(), at.listed())); err != nil {
		return nil, err
	}
	now.SeenRecord, now.Tracking = at.recordHash, at.tracking
	now.Others = without(at.folders, now.Seen.Names())
	now.Files = without(at.files, slices.Concat(s.Delivered.Names(), at.listed()))
	now.Drift = nil
	changed := s.Delivered.differing(now.Seen)
	for i, name := range changed {
		changed[i] = s.Place.Join(name)
	}
	if now.SeenRecord != now.DeliveredRecord {
		changed = append(changed, s.Place.RecordPath())
	}
	if len(changed) == 0 {
		now.Base = now.Head
		return &now, nil
	}
	now.Drift, err = history(ctx, branch, s.Base, changed)
	return &now, err
}

// history finds the commits after base that changed the paths. What it does not find is one drift without a commit.
func history(ctx context.Context, branch *gitops.Branch, base string, changed []string) ([]Drift, error) {
	commits, found, err := branch.History(ctx, plumbing.NewHash(base), changed)
	if err != nil {
		return nil, err
	}
	all := drifts(commits)
	switch {
	case !found:
		all = append(all, Drift{Paths: changed, Subject: "the commit we last delivered is not in the history of the branch that was looked through"})
	case len(all) == 0:
		all = append(all, Drift{Paths: changed, Subject: "the pull request was merged with changes of others"})
	}
	return all, nil
}

func drifts(commits []gitops.Change) []Drift {
	var all []Drift
	for _, c := range commits {
		all = append(all, Drift{
			Commit:  c.Commit.String(),
			Author:  fmt.Sprintf("%s <%s>", c.Author.Name, c.Author.Email),
			Time:    c.Author.When.UTC().Format(time.RFC3339),
			Subject: c.Subject,
			Paths:   c.Paths,
			More:    c.Count - len(c.Paths),
		})
	}
	return all
}

// Import reads the rendering of an environment at a place from its record.
func Import(ctx context.Context, client *gitremote.Client, place Place, environment string) (*State, *Record, error) {
	branch, err := gitops.Open(client, place.Repo, place.Branch)
	if err != nil {
		return nil, nil, err
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer snapshot.Close()
	if snapshot.Commit.IsZero() {
		return nil, nil, gitops.ErrBranchNotFound
	}
	at, err := newSurvey(snapshot, place, nil)
	switch {
	case err != nil:
		return nil, nil, err
	case at.broken != nil:
		return nil, nil, at.broken
	case at.record == nil:
		return nil, nil, fmt.Errorf("%w: there is no record %s; a tree that the operator wrote is taken over with adopt = true instead", ErrNoRendering, place.RecordPath())
	case at.record.Environment != environment:
		return nil, nil, fmt.Errorf("%w of environment %q: the record %s says %q", ErrNoRendering, environment, place.RecordPath(), at.record.Environment)
	}
	held, err := at.footprint(at.record.ClusterTypes)
	if err != nil {
		return nil, nil, err
	}
	return &State{
		Version: stateVersion, Engine: engineVersion, Place: place, Environment: environment,
		Delivered: held, DeliveredRecord: at.recordHash, PromotedCommit: at.record.PromotedCommit, Inputs: inputsOf(at.record).pack(), Base: snapshot.Commit.String(),
		Head: snapshot.Commit.String(), Way: snapshot.Way(place.RecordPath()), Seen: held, SeenRecord: at.recordHash, Others: without(at.folders, held.Names()), Files: without(at.files, at.listed()),
	}, at.record, nil
}
