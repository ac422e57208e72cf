package remote

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Observe reads the branch and returns the state with the branch's current content. If the head did not change, it only
// lists the references. It returns [gitbranch.ErrBranchNotFound] if the branch does not exist.
func Observe(ctx context.Context, client *gitremote.Client, s *delivery.State) (*delivery.State, error) {
	branch, err := gitbranch.Open(client, s.Destination.Repo, s.Destination.Branch)
	if err != nil {
		return nil, err
	}
	head, err := branch.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head.IsZero():
		return nil, gitbranch.ErrBranchNotFound
	case head.String() == s.LastRead.Head:
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
	now.LastRead, now.Cache, now.Drift = *at, snapshot.TreeCache(s.Destination.RecordPath()), nil
	changed := driftedPaths(&now)
	if len(changed) == 0 {
		now.Base = at.Head
		return &now, nil
	}
	switch own, err := isOwn(snapshot, &now); {
	case err != nil:
		return nil, err
	case own:
		return afterKilledApply(&now), nil
	}
	now.Drift, err = drift.Since(ctx, branch, s.Base, changed)
	return &now, err
}

// isOwn reports whether an apply of the rendering left on the branch what s last read, and was killed before Terraform
// saved its state: one of the last commits proves it.
func isOwn(snapshot *gitbranch.Snapshot, s *delivery.State) (bool, error) {
	r := s.LastRead.Record
	if s.ProofKey == "" || r == nil || r.Environment != s.Environment {
		return false, nil
	}
	proof := s.ProofKey.Proof(s.Destination, s.LastRead.RecordHash, s.OwnFolders())
	all, err := snapshot.History().Ancestry(gitbranch.MaxHistory)
	return slices.ContainsFunc(all.Commits, func(c gitbranch.Commit) bool {
		return slices.Contains(strings.Split(c.Message, "\n"), proof)
	}), err
}

// afterKilledApply returns the state that the apply would have saved that wrote what s last read.
func afterKilledApply(s *delivery.State) *delivery.State {
	now := s.AsLastRead()
	now.UnsavedCommit = s.LastRead.Head
	return now
}

// provenByOwnBranch returns the state without drift if people merged a pull request of an apply that was killed. A host
// that squashes commits may drop the message with the proof, but our branch still has it.
func (r Operations) provenByOwnBranch(
	ctx context.Context, p *delivery.Prior, s *delivery.State,
) (*delivery.State, error) {
	if !s.Drifted() || s.ProofKey == "" || s.Proposal != nil {
		return s, nil
	}
	t, err := r.pullRequests(&delivery.Arguments{PullRequest: p.PullRequest}).proposalTopic(s)
	if err != nil {
		return nil, err
	}
	snapshot, err := gitbranch.ReadHead(ctx, r.Git, t.Location.Repo, t.Location.Branch)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	if snapshot.Commit.IsZero() {
		return s, nil
	}
	if own, err := isOwn(snapshot, s); err != nil || !own {
		return s, err
	}
	return afterKilledApply(s), nil
}

// driftedPaths returns the paths of our folders and of our record that differ from the delivered ones.
func driftedPaths(s *delivery.State) []string {
	changed := lists.Map(s.Delivered.Differing(s.OwnFolders()), s.Destination.Join)
	if s.LastRead.RecordHash != s.DeliveredRecord {
		changed = append(changed, s.Destination.RecordPath())
	}
	return changed
}

// ErrRemoved means that the pull request that removes the rendering is merged.
var ErrRemoved = errors.New("the pull request that removes the rendering is merged")

// follow is [Observe] for a state with pull requests. It also reads and returns the pull request of the proposal, or
// nil. Once the destination contains the proposed tree, the state is the same as after a push. If a destroy waited for
// a removal that is merged now, the error is [ErrRemoved].
func (r Operations) follow(ctx context.Context, s *delivery.State) (*delivery.State, *githost.PullRequest, error) {
	if s.Removal != 0 {
		removal, err := r.readPullRequest(ctx, s.Destination.Repo, s.Removal)
		switch {
		case err != nil:
			return nil, nil, err
		case removal.State == githost.Merged:
			return nil, nil, ErrRemoved
		}
	}
	now, pr, err := r.followProposal(ctx, s)
	if err != nil || len(s.OldLocations) == 0 {
		return now, pr, err
	}
	next := *now
	next.OldLocations, err = r.observeOldLocations(ctx, s)
	return &next, pr, err
}

func (r Operations) followProposal(
	ctx context.Context, s *delivery.State,
) (*delivery.State, *githost.PullRequest, error) {
	p := s.Proposal
	if p == nil {
		now, err := Observe(ctx, r.Git, s)
		return now, nil, err
	}
	t, err := r.pullRequests(&delivery.Arguments{}).proposalTopic(s)
	if err != nil {
		return nil, nil, err
	}
	// The pull request is read first: the branch, which is read later, then contains what was merged.
	pr, err := t.ReadRequested(ctx, p.Number, p.AutoMerge)
	if err != nil {
		return nil, nil, err
	}
	if pr.State == githost.Merged {
		now, err := Observe(ctx, r.Git, afterMerge(s, p, pr.MergeCommit))
		return now, pr, err
	}
	now, err := Observe(ctx, r.Git, s)
	if err != nil {
		return nil, nil, err
	}
	if now.LastRead.RecordHash == p.Head.DeliveredRecord && now.OwnFolders().Equal(p.Head.Delivered) {
		// The pull request was merged after it was read, the host does not report its own merge yet, or people pushed
		// the tree without the pull request.
		pr, err = t.Read(ctx, p.Number)
		if err != nil {
			return nil, nil, err
		}
		merged := afterMerge(now, p, now.LastRead.Head)
		merged.LastRead = now.LastRead
		return merged, pr, nil
	}
	next := *now
	next.Proposal, err = observeProposal(ctx, r.Git, t, p, now, pr)
	if err != nil {
		return nil, nil, err
	}
	if pr.State == githost.Open && !next.Proposal.Lost { // some hosts show a push late
		pr.HeadCommit = next.Proposal.Head.LastRead.Head
	}
	return &next, pr, nil
}

func (r Operations) readPullRequest(ctx context.Context, url string, number int) (*githost.PullRequest, error) {
	repo, err := r.hosted(url)
	if err != nil {
		return nil, err
	}
	return repo.Read(ctx, number)
}

// afterMerge returns the state of a destination that contains the proposed tree, at a commit. It contains no later
// foreign changes.
func afterMerge(s *delivery.State, p *delivery.Proposal, commit string) *delivery.State {
	now := delivery.NewState(s.Destination, p.Head.Environment)
	now.Delivered, now.DeliveredRecord = p.Head.Delivered, p.Head.DeliveredRecord
	now.PromotedCommit, now.Inputs, now.Base = p.Head.PromotedCommit, p.Head.Inputs, commit
	now.Decisions, now.Rollout, now.WholeHashes = p.Head.Decisions, p.Head.Rollout, p.Head.WholeHashes
	now.ProofKey = s.ProofKey
	now.Remember(s)
	return &now
}

// foundCommit returns the commit on the branch that contains the tree, or "", and whether the head still contains it.
// now is the state after a refresh, and pr the pull request that was read, or nil.
func foundCommit(p *delivery.Prior, now *delivery.State, pr *githost.PullRequest) (commit string, delivered bool) {
	contains := now.Proposal == nil && now.Delivered.TreeHash().String() == p.TreeHash
	commit = p.Commit
	if contains && commit == "" {
		commit = now.Base
		if pr != nil && pr.State == githost.Merged {
			commit = pr.MergeCommit
		}
	}
	target := p.TargetTreeHash == "" || p.TargetTreeHash == p.TreeHash // of a rollout, the branch may contain a part
	return commit, contains && !now.Drifted() && target
}

// observeProposal reads the current state of a proposal that its target does not contain. target is the state of the
// target now.
func observeProposal(
	ctx context.Context, client *gitremote.Client, t *pullrequest.Topic, p *delivery.Proposal, target *delivery.State,
	pr *githost.PullRequest,
) (*delivery.Proposal, error) {
	now := *p
	now.Lost, now.State = false, pr.State
	head, err := Observe(ctx, client, p.Head)
	switch {
	case errors.Is(err, gitbranch.ErrBranchNotFound):
		now.Lost = true
	case err != nil:
		return nil, err
	case head.LastRead.Head != p.Head.LastRead.Head:
		now.Head, err = adoptOwnCommit(ctx, head, t)
		if err == nil {
			now.OtherCommits, err = otherCommits(ctx, p, t)
		}
		if err != nil {
			return nil, err
		}
	}
	now.Stale = p.PromotedCommitChanged(target)
	return &now, nil
}

// adoptOwnCommit returns the state of our branch, without drift if we pushed its last commit in an apply that then
// failed.
func adoptOwnCommit(ctx context.Context, s *delivery.State, t *pullrequest.Topic) (*delivery.State, error) {
	if !s.Drifted() {
		return s, nil
	}
	b, err := t.OwnBranch.Read(ctx)
	if err != nil || !b.Unchanged || b.Head != s.LastRead.Head {
		return s, err
	}
	now := *s
	now.Drift, now.Base = nil, s.LastRead.Head
	now.Delivered, now.DeliveredRecord, now.Inputs = s.OwnFolders(), s.LastRead.RecordHash, nil
	if r := s.LastRead.Record; r != nil {
		now.PromotedCommit, now.Decisions, now.Rollout = r.PromotedCommit, r.Decisions, delivery.RolloutOf(r, time.Time{})
	}
	return &now, nil
}

// otherCommits returns the foreign commits on our branch. Merge commits do not count.
func otherCommits(ctx context.Context, p *delivery.Proposal, t *pullrequest.Topic) ([]drift.Commit, error) {
	others, rebased, err := t.OwnBranch.OtherCommits(ctx, p.Pushed)
	if err == nil && rebased != "" {
		return []drift.Commit{{Subject: rebased}}, nil
	}
	return drift.Commits(others), err
}

// knownRevert returns now, with RevertKnown if the previous run found the same revert and succeeded.
func knownRevert(s, now *delivery.State) *delivery.State {
	if now.RevertKnown || !s.Reverted() || !now.Reverted() || s.LastRead.RecordHash != now.LastRead.RecordHash ||
		!s.OwnFolders().Equal(now.OwnFolders()) {
		return now
	}
	noted := *now
	noted.RevertKnown = true
	return &noted
}
