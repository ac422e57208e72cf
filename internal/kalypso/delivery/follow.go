package delivery

import (
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// Follow is [Observe] for a state with a proposal: it reads what became of the pull request too, and gives it. Once the
// place's branch holds what was proposed, the state is that of a tree that was pushed there. Without a proposal there is no
// pull request to read. Once the removal is merged that a destroy waited for, it is [ErrRemoved].
func Follow(ctx context.Context, client *gitremote.Client, host hosting.Host, s *State) (*State, *hosting.PullRequest, error) {
	if s.Removal != 0 {
		if err := s.removed(ctx, host); err != nil {
			return nil, nil, err
		}
	}
	p := s.Proposal
	if p == nil {
		now, err := Observe(ctx, client, s)
		return now, nil, err
	}
	repo, err := host.Repo(s.Place.Repo)
	if err != nil {
		return nil, nil, err
	}
	// The pull request first: what was merged by then is on the branch that is read after it.
	pr, err := repo.Read(ctx, p.Number)
	if err != nil {
		return nil, nil, err
	}
	if pr.Target != s.Place.Branch {
		pr.State = hosting.Closed // people have it merged into another branch
	}
	if pr.State == hosting.Merged {
		now, err := Observe(ctx, client, s.delivered(p, pr.MergeCommit))
		return now, pr, err
	}
	now, err := Observe(ctx, client, s)
	if err != nil {
		return nil, nil, err
	}
	if now.holds(p) { // by other ways
		settled := now.delivered(p, now.Head)
		settled.Head, settled.Base = now.Head, now.Head
		return settled, pr, nil
	}
	next := *now
	next.Proposal, err = p.observe(ctx, client, now, pr)
	return &next, pr, err
}

// ErrRemoved says that the pull request is merged that removes the rendering.
var ErrRemoved = errors.New("the pull request that removes the rendering is merged")

func (s *State) removed(ctx context.Context, host hosting.Host) error {
	repo, err := host.Repo(s.Place.Repo)
	if err != nil {
		return err
	}
	pr, err := repo.Read(ctx, s.Removal)
	if err == nil && pr.State == hosting.Merged {
		err = ErrRemoved
	}
	return err
}

// observe is what became of a proposal that its target, as it is now, does not hold.
func (p *Proposal) observe(ctx context.Context, client *gitremote.Client, target *State, pr *hosting.PullRequest) (*Proposal, error) {
	now := *p
	now.Lost, now.State = false, pr.State
	head, err := Observe(ctx, client, p.Head)
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound):
		now.Lost = true
	case err != nil:
		return nil, err
	case head.Head != p.Head.Head:
		k := key{p.Head.Environment, target.Place.Branch, target.Place.Path}
		if now.Head, err = head.ours(ctx, client, k); err == nil {
			now.Others, err = p.others(ctx, client, k)
		}
		if err != nil {
			return nil, err
		}
	}
	ours := ""
	if p.Head.PromotedCommit != "" {
		ours = blob([]byte(p.Head.PromotedCommit))
	}
	now.Stale = ours != "" && target.Tracking != p.Tracking && target.Tracking != ours
	return &now, nil
}

// ours is the state of our branch, without drift where what moved it is a commit of ours: of an apply that failed after it.
func (s *State) ours(ctx context.Context, client *gitremote.Client, k key) (*State, error) {
	if !s.Drifted() {
		return s, nil
	}
	commit, record, err := s.Place.seal(ctx, client, k)
	if err != nil || commit == "" || commit != s.Head {
		return s, err
	}
	now := *s
	now.Drift, now.Build, now.Base = nil, "", s.Head
	now.Delivered, now.DeliveredRecord, now.Inputs = s.Seen, s.SeenRecord, nil
	if record != nil {
		now.PromotedCommit = record.PromotedCommit
	}
	return &now, nil
}

// seal is the last commit of our branch where that is ours, and the record in it; "" where it is not.
func (at Place) seal(ctx context.Context, client *gitremote.Client, k key) (commit string, record *Record, err error) {
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
	s, err := newSurvey(snapshot, at, nil)
	if err != nil {
		return "", nil, err
	}
	if sealed, err := s.sealed(k); err != nil || !sealed {
		return "", nil, err
	}
	return snapshot.Commit.String(), s.record, nil
}

// others are the commits on top of ours. What a merge brought is its other branch's. Where ours is not among them, people had
// the branch rebased: then it is below the last one, or is that.
func (p *Proposal) others(ctx context.Context, client *gitremote.Client, k key) ([]Drift, error) {
	branch, err := gitops.Open(client, p.Head.Place.Repo, p.Head.Place.Branch)
	if err != nil {
		return nil, err
	}
	commits, found, err := branch.History(ctx, plumbing.NewHash(p.Pushed), []string{"."})
	if err != nil {
		return nil, err
	}
	if !found {
		commit, _, err := p.Head.Place.seal(ctx, client, k)
		if err != nil || commit != "" {
			return nil, err
		}
		return []Drift{{Subject: "the branch was rebased, and holds commits of others on top of ours"}}, nil
	}
	return drifts(slices.DeleteFunc(commits, func(c gitops.Change) bool { return c.Merge })), nil
}

// delivered is the state of a place that holds what was proposed, as of a commit. What others did to it since is to be
// observed.
func (s *State) delivered(p *Proposal, commit string) *State {
	return &State{
		Version: s.Version, Engine: s.Engine, Build: p.Head.Build, Place: s.Place, Environment: p.Head.Environment,
		Delivered: p.Head.Delivered, DeliveredRecord: p.Head.DeliveredRecord, PromotedCommit: p.Head.PromotedCommit, Inputs: p.Head.Inputs, Base: commit,
		Seen: p.Head.Delivered, SeenRecord: p.Head.DeliveredRecord, Others: without(s.Others, p.Head.Delivered.Names()), Files: s.Files, Tracking: s.Tracking,
	}
}
