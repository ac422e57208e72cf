package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// Observe reads the branch and returns the state with what the branch holds now. It is one reference look-up where the
// branch's head is the one last seen. A branch that is gone is [gitops.ErrBranchNotFound].
func Observe(ctx context.Context, client *gitremote.Client, s *State) (*State, error) {
	branch, err := gitops.Open(client, s.Destination.Repo, s.Destination.Branch)
	if err != nil {
		return nil, err
	}
	head, err := branch.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head.IsZero():
		return nil, gitops.ErrBranchNotFound
	case head.String() == s.Seen.Head:
		return s, nil
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	at, err := readBranch(snapshot, s.Destination, s, nil)
	if err != nil {
		return nil, err
	}
	now := *s
	now.Seen, now.Cache, now.Drift = *at, snapshot.TreeCache(s.Destination.RecordPath()), nil
	changed := now.driftedPaths()
	if len(changed) == 0 {
		now.Base = at.Head
		return &now, nil
	}
	now.Drift, err = history(ctx, branch, s.Base, changed)
	return &now, err
}

// driftedPaths returns the paths of our folders, and of our record, that the branch does not hold as they were delivered.
func (s *State) driftedPaths() []string {
	changed := s.Delivered.differing(s.Ours())
	for i, name := range changed {
		changed[i] = s.Destination.Join(name)
	}
	if s.Seen.RecordHash != s.DeliveredRecord {
		changed = append(changed, s.Destination.RecordPath())
	}
	return changed
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

// ErrRemoved says that the pull request is merged that removes the rendering.
var ErrRemoved = errors.New("the pull request that removes the rendering is merged")

// Follow is [Observe] for a state with a proposal: it reads what became of the pull request too, and returns it. Once the
// destination's branch holds what was proposed, the state is that of a tree that was pushed there. Without a proposal there is
// no pull request to read. Once the removal is merged that a destroy waited for, the error is [ErrRemoved]. The host is asked
// where the state is [State.Reviewed].
func Follow(ctx context.Context, client *gitremote.Client, host hosting.Host, s *State) (*State, *hosting.PullRequest, error) {
	if s.Removal != 0 {
		if err := s.removed(ctx, host); err != nil {
			return nil, nil, err
		}
	}
	now, pr, err := s.follow(ctx, client, host)
	if err != nil || len(s.OldPlaces) == 0 {
		return now, pr, err
	}
	next := *now
	next.OldPlaces, err = s.observeOldPlaces(ctx, client, host)
	return &next, pr, err
}

func (s *State) follow(ctx context.Context, client *gitremote.Client, host hosting.Host) (*State, *hosting.PullRequest, error) {
	p := s.Proposal
	if p == nil {
		now, err := Observe(ctx, client, s)
		return now, nil, err
	}
	repo, err := host.Repo(s.Destination.Repo)
	if err != nil {
		return nil, nil, err
	}
	// The pull request first: what was merged by then is on the branch that is read after it.
	pr, err := repo.Read(ctx, p.Number)
	if err != nil {
		return nil, nil, err
	}
	if pr.Target != s.Destination.Branch {
		pr.State = hosting.Closed // people have it merged into another branch
	}
	if pr.State == hosting.Merged {
		now, err := Observe(ctx, client, s.merged(p, pr.MergeCommit))
		return now, pr, err
	}
	now, err := Observe(ctx, client, s)
	if err != nil {
		return nil, nil, err
	}
	if now.holds(p) { // by other ways
		settled := now.merged(p, now.Seen.Head)
		settled.Seen = now.Seen
		return settled, pr, nil
	}
	next := *now
	next.Proposal, err = p.observe(ctx, client, now, pr)
	return &next, pr, err
}

func (s *State) removed(ctx context.Context, host hosting.Host) error {
	repo, err := host.Repo(s.Destination.Repo)
	if err != nil {
		return err
	}
	pr, err := repo.Read(ctx, s.Removal)
	if err == nil && pr.State == hosting.Merged {
		err = ErrRemoved
	}
	return err
}

// holds reports whether the branch holds what was proposed.
func (s *State) holds(p *Proposal) bool {
	return s.Seen.RecordHash == p.Head.DeliveredRecord && s.Seen.Folders.only(s.owned(&s.Seen)).Equal(p.Head.Delivered)
}

// merged returns the state of a destination that holds what was proposed, as of a commit. What others did to it since is to be
// observed.
func (s *State) merged(p *Proposal, commit string) *State {
	now := newState(s.Destination, p.Head.Environment)
	now.Delivered, now.DeliveredRecord, now.PromotedCommit = p.Head.Delivered, p.Head.DeliveredRecord, p.Head.PromotedCommit
	now.Inputs, now.Base = p.Head.Inputs, commit
	now.Decisions, now.Rollout = p.Head.Decisions, p.Head.Rollout
	return &now
}

// Found returns what a refresh found of a delivery: the commit on the branch that holds the tree, empty where none does, and
// whether the branch holds the tree still. p is what Terraform's state said before, pr the pull request that was read, or nil.
func Found(now *State, pr *hosting.PullRequest, p Prior) (commit string, delivered bool) {
	holds := now.Proposal == nil && now.Delivered.TreeHash().String() == p.TreeHash
	commit = p.Commit
	if holds && commit == "" {
		commit = now.Base
		if pr != nil && pr.State == hosting.Merged {
			commit = pr.MergeCommit
		}
	}
	target := p.TargetTreeHash == "" || p.TargetTreeHash == p.TreeHash // of a rollout, the branch may hold a part
	return commit, holds && !now.Drifted() && target
}

// observe returns what became of a proposal that its target, as it is now, does not hold.
func (p *Proposal) observe(ctx context.Context, client *gitremote.Client, target *State, pr *hosting.PullRequest) (*Proposal, error) {
	now := *p
	now.Lost, now.State = false, pr.State
	head, err := Observe(ctx, client, p.Head)
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound):
		now.Lost = true
	case err != nil:
		return nil, err
	case head.Seen.Head != p.Head.Seen.Head:
		k := key{p.Head.Environment, target.Destination.Branch, target.Destination.Path}
		if now.Head, err = head.adoptOwnCommit(ctx, client, k); err == nil {
			now.Others, err = p.others(ctx, client, k)
		}
		if err != nil {
			return nil, err
		}
	}
	now.Stale = p.overtaken(target)
	return &now, nil
}

// overtaken reports whether others wrote the promoted commit of the target branch since the proposal.
func (p *Proposal) overtaken(target *State) bool {
	if p.Head.PromotedCommit == "" {
		return false
	}
	now, ours := target.Seen.PromotedCommitFile, blobHash([]byte(p.Head.PromotedCommit))
	return now != p.Tracking && now != ours
}

// adoptOwnCommit returns the state of our branch, without drift where a commit of ours moved it: of an apply that failed after
// it.
func (s *State) adoptOwnCommit(ctx context.Context, client *gitremote.Client, k key) (*State, error) {
	if !s.Drifted() {
		return s, nil
	}
	commit, ours, err := s.Destination.ownCommit(ctx, client, k)
	if err != nil || commit == "" || commit != s.Seen.Head {
		return s, err
	}
	now := *s
	now.Drift, now.Base = nil, s.Seen.Head
	now.Delivered, now.DeliveredRecord, now.Inputs = s.Ours(), s.Seen.RecordHash, nil
	if ours.Record != nil {
		now.PromotedCommit, now.Decisions = ours.Record.PromotedCommit, ours.Record.Decisions
		now.Rollout = rolloutOf(ours.Record, time.Time{})
	}
	return &now, nil
}

// ownCommit returns the last commit of our branch where that is ours, and the branch; "" where it is not.
func (at Destination) ownCommit(ctx context.Context, client *gitremote.Client, k key) (commit string, b *reviewBranch, err error) {
	branch, err := gitops.Open(client, at.Repo, at.Branch)
	if err != nil {
		return "", nil, err
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return "", nil, err
	}
	defer snapshot.Close()
	if snapshot.Commit.IsZero() {
		return "", nil, nil
	}
	ours, err := readReviewBranch(snapshot, at, k)
	if err != nil || !ours.trailer {
		return "", nil, err
	}
	return ours.Head, ours, nil
}

// others returns the commits on top of ours. What a merge brought is its other branch's. Where ours is not among them, people
// had the branch rebased: then it is below the last one, or is that.
func (p *Proposal) others(ctx context.Context, client *gitremote.Client, k key) ([]Drift, error) {
	branch, err := gitops.Open(client, p.Head.Destination.Repo, p.Head.Destination.Branch)
	if err != nil {
		return nil, err
	}
	commits, found, err := branch.History(ctx, plumbing.NewHash(p.Pushed), []string{"."})
	if err != nil {
		return nil, err
	}
	if !found {
		return p.afterRebase(ctx, client, k)
	}
	return drifts(slices.DeleteFunc(commits, func(c gitops.Change) bool { return c.Merge })), nil
}

// afterRebase returns what others put on our branch that was rebased.
func (p *Proposal) afterRebase(ctx context.Context, client *gitremote.Client, k key) ([]Drift, error) {
	at := p.Head.Destination
	commit, ours, err := at.ownCommit(ctx, client, k)
	switch {
	case err != nil:
		return nil, err
	case commit == "":
		return []Drift{{Subject: "the branch was rebased, and holds commits of others on top of ours"}}, nil
	}
	target, err := gitops.Open(client, at.Repo, k.branch)
	if err != nil {
		return nil, err
	}
	alone, err := ours.onTopOfAny(ctx, target)
	if err != nil || alone {
		return nil, err
	}
	return []Drift{{Subject: "the branch was rebased, and holds commits of others below ours"}}, nil
}
