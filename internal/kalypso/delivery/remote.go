package delivery

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// Remote reads and writes branches and pull requests for Terraform's operations: [Remote.Check] for a plan,
// [Remote.Apply], [Remote.Refresh] and [Remote.Destroy].
type Remote struct {
	Git *gitremote.Client
	// Host returns the host of the pull requests. It is called only if a pull request is read or written.
	Host     func() (hosting.Host, error)
	Claims   *Claims
	Progress Progress
}

func (r Remote) pullRequests(a *Arguments) (*PullRequests, error) {
	host, err := r.Host()
	if err != nil {
		return nil, err
	}
	return &PullRequests{Git: r.Git, Host: host, Settings: a.PullRequest}, nil
}

// ReviewersError says which reviewers the host can't request a review from.
type ReviewersError struct{ Reason string }

// Error implements error.
func (e *ReviewersError) Error() string { return e.Reason }

// CheckHost returns an error if the host can't do what the pull request is configured for: a *ReviewersError, or that
// of [hosting.Repo.CheckLabels] or [hosting.Repo.CheckAutoMerge]. It contacts no server.
func (r Remote) CheckHost(a *Arguments) error {
	if a.Strategy != PullRequest || a.Incomplete {
		return nil
	}
	pulls, err := r.pullRequests(a)
	if err != nil {
		return err
	}
	repo, err := pulls.Host.Repo(a.Destination.Repo)
	switch {
	case errors.Is(err, hosting.ErrOtherHost): // which Check reports
		return nil
	case err != nil:
		return err
	}
	return CheckHost(repo, a.PullRequest)
}

// CheckHost returns an error if the host of a repo can't do what pull requests are configured for, as
// [Remote.CheckHost] does. It skips settings that are not known yet.
func CheckHost(repo hosting.Repo, s pullrequest.Settings) error {
	if err := repo.CheckReviewers(s.Reviewers); err != nil {
		return &ReviewersError{err.Error()}
	}
	if err := repo.CheckLabels(s.Labels); err != nil || unknown.Is(string(s.AutoMerge)) {
		return err
	}
	return repo.CheckAutoMerge(s.AutoMerge)
}

// Checked is what a plan read from the branch.
type Checked struct {
	// Recovered is a branch that others changed while the private state could not be read: see [Result].
	Recovered *State
	// Open is a pull request that an unfinished apply opened and that this one continues with, or nil.
	Open   *hosting.PullRequest
	Change *BranchChange // what the apply changes there; nil if the state knows that
}

// Check reads from the branch what the decision needs and the state does not know. It returns an error if the apply
// would fail, with what it read before. It writes nothing.
func (r Remote) Check(ctx context.Context, decision *Decision) (checked Checked, err error) {
	applied, s := decision.Applied, decision.Before
	if decision.Unreadable {
		if s, checked.Recovered, err = r.recoverForChange(ctx, decision); err != nil {
			return checked, err
		}
	}
	if !decision.Check || len(decision.Errors) > 0 {
		return checked, nil
	}
	if applied.Strategy == PullRequest {
		pulls, err := r.pullRequests(applied.Arguments)
		if err != nil {
			return checked, err
		}
		if checked.Open, err = pulls.Check(ctx, applied, s); err != nil {
			return checked, err
		}
	}
	checked.Change, err = Check(ctx, r.Git, applied, s)
	return checked, err
}

// Apply does what was decided. With an error, it may have written a part of it: then applying again completes it.
func (r Remote) Apply(ctx context.Context, decision *Decision) (*Result, error) {
	applied, s := decision.Applied, decision.Before
	var result *Result
	var recovered *State
	var err error
	switch {
	case decision.Action == Nothing:
		result = &Result{}
	case decision.Rests != "" && decision.Action == Keep:
		result = &Result{State: s}
	case decision.Action == Withhold:
		result, err = r.withhold(ctx, applied.Arguments, s, decision.Withheld)
	case decision.Action == Keep:
		result = &Result{State: s.WithInputs(applied.Arguments).WithTarget(applied.TargetTreeHash())}
	case decision.Action == RemoveOld:
		result, err = r.removeOld(ctx, applied, s)
	case applied.Strategy == ComputeOnly:
		result = Compute(applied, s)
	default:
		if decision.Unreadable {
			if s, recovered, err = r.recoverForChange(ctx, decision); err != nil {
				return nil, err
			}
		}
		if err := r.Claims.deliver(applied.Destination); err != nil {
			return nil, err
		}
		result, err = r.deliver(ctx, applied, s)
	}
	if err != nil {
		return nil, err
	}
	result.Action = decision.Action
	if result.Applied == nil {
		result.Applied = applied
	}
	result.Recovered = recovered
	return result, nil
}

func (r Remote) withhold(ctx context.Context, a *Arguments, s *State, reason string) (*Result, error) {
	pulls, err := r.pullRequests(a)
	if err != nil {
		return nil, err
	}
	return pulls.Withhold(ctx, s, reason)
}

// removeOld removes what was delivered to other branches before.
func (r Remote) removeOld(ctx context.Context, applied *AppliedTree, s *State) (*Result, error) {
	pulls, err := r.pullRequests(applied.Arguments)
	if err != nil {
		return nil, err
	}
	after, removals, err := pulls.RemoveOld(ctx, applied.Arguments, s)
	if err != nil {
		return nil, err
	}
	after = after.WithInputs(applied.Arguments).WithTarget(applied.TargetTreeHash())
	return &Result{State: after, Removals: removals}, nil
}

// deliver delivers the tree by its strategy. After a change of the strategy to [Push], it closes the pull requests.
func (r Remote) deliver(ctx context.Context, applied *AppliedTree, s *State) (*Result, error) {
	reviewed := s.Current() && s.Reviewed()
	if applied.Strategy == Push && !reviewed {
		return Deliver(ctx, r.Git, applied, s, r.Progress)
	}
	pulls, err := r.pullRequests(applied.Arguments)
	switch {
	case err != nil:
		return nil, err
	case applied.Strategy == PullRequest:
		return pulls.Propose(ctx, applied, s, r.Progress)
	}
	result, err := Deliver(ctx, r.Git, applied, s, r.Progress)
	if err != nil {
		return nil, err
	}
	return result, pulls.ClosePullRequests(ctx, s)
}

// Refreshed is what a refresh found.
type Refreshed struct {
	State       *State               // to keep from now on; nil if the branch contains no record of the rendering
	Changed     bool                 // State differs from the state before
	Gone        bool                 // nothing of the rendering is left
	BranchGone  bool                 // nor is its branch
	Commit      string               // the commit on the branch that contains the tree; empty if none does
	Delivered   bool                 // the branch still contains the tree
	PullRequest *hosting.PullRequest // nil if none was read
}

// Refresh reads the current state of the branch and of the pull request. It returns nil if nothing was.
func (r Remote) Refresh(ctx context.Context, p *Prior, s *State) (*Refreshed, error) {
	if !p.delivered() {
		return nil, nil
	}
	found := &Refreshed{}
	var err error
	if !s.Current() || s.BaselineUnknown() {
		found.State, err = r.recoverPrior(ctx, p)
		found.Changed = true
	} else {
		renamed := s.RenameTo(p.Destination)
		if found.State, found.PullRequest, err = r.follow(ctx, s); err == nil {
			found.State = s.knownRevert(found.State)
		}
		found.Changed = renamed || found.State != s
	}
	switch {
	case errors.Is(err, ErrRemoved):
		return &Refreshed{Gone: true}, nil
	case errors.Is(err, gitops.ErrBranchNotFound):
		return &Refreshed{Gone: true, BranchGone: true}, nil
	case errors.Is(err, ErrNoRendering):
		return nil, nil // the plan delivers it again
	case err != nil:
		return nil, err
	}
	found.Commit, found.Delivered = foundCommit(p, found.State, found.PullRequest)
	return found, nil
}

// Files returns the contents of the rendering's files on the branch, by path. They are nil if the branch moved after s
// was read.
func (r Remote) Files(ctx context.Context, s *State) (map[string][]byte, error) {
	branch, err := gitops.Open(r.Git, s.Destination.Repo, s.Destination.Branch)
	if err != nil {
		return nil, err
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	if snapshot.Commit.String() != s.Seen.Head {
		return nil, nil
	}
	var paths []string
	for _, name := range s.Ours().Names() {
		err := snapshot.Walk(s.Destination.Join(name), func(path string, _ object.TreeEntry) error {
			paths = append(paths, path)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return snapshot.ReadFiles(paths)
}

func (r Remote) follow(ctx context.Context, s *State) (*State, *hosting.PullRequest, error) {
	if !s.Reviewed() {
		return Follow(ctx, r.Git, nil, s)
	}
	host, err := r.Host()
	if err != nil {
		return nil, nil, err
	}
	return Follow(ctx, r.Git, host, s)
}

// Destroyed is what a destroy left.
type Destroyed struct {
	// Taken is the destination if another rendering of the configuration writes there. Then nothing was removed.
	Taken    *record.Destination
	Removals []Removal // the pull requests that remove what was delivered
}

// Destroy removes what was delivered. With an error, it returns the state to keep, or nil.
func (r Remote) Destroy(ctx context.Context, a *Arguments, p *Prior, s *State) (*State, Destroyed, error) {
	if a.KeepOnDestroy || !p.delivered() {
		return nil, Destroyed{}, nil
	}
	if !s.Current() {
		s = &State{Destination: a.Destination, Environment: a.Environment}
	}
	if r.Claims.taken(s.Destination) {
		// A resource that was renamed without a moved block, or is replaced with create_before_destroy.
		return nil, Destroyed{Taken: &s.Destination}, nil
	}
	if a.Strategy == Push {
		return nil, Destroyed{}, Remove(ctx, r.Git, s, removalMessage(s), a.Author)
	}
	pulls, err := r.pullRequests(a)
	if err != nil {
		return nil, Destroyed{}, err
	}
	after, removals, err := pulls.Destroy(ctx, a, s)
	if err != nil {
		return after, Destroyed{}, err
	}
	return nil, Destroyed{Removals: removals}, nil
}

// recoverForChange is [Remote.recoverPrior] for a change. drifted is the same state if others changed the branch
// meanwhile. That is a *DriftError if the apply does not overwrite drift. The state is nil if nothing of the rendering
// is left.
func (r Remote) recoverForChange(ctx context.Context, decision *Decision) (s, drifted *State, err error) {
	s, err = r.recoverPrior(ctx, decision.Prior)
	gone := errors.Is(err, gitops.ErrBranchNotFound) || errors.Is(err, ErrNoRendering)
	if err != nil && !gone {
		return nil, nil, err
	}
	if s != nil && s.Drifted() {
		drifted = s // also if others removed the record
		if on := decision.Applied.OnDrift; on != DriftOverwrite && !unknown.Is(string(on)) {
			return nil, nil, &DriftError{s}
		}
	}
	if gone {
		s = nil
	}
	return s, drifted, nil
}

// recoverPrior reads from the branch what the private state would say. It is needed if another version of the provider
// wrote the private state. [Remote.Refresh] writes it again; without a refresh, a change recovers it too.
func (r Remote) recoverPrior(ctx context.Context, p *Prior) (*State, error) {
	if p.Commit == "" || p.Strategy != Push && !p.Delivered { // the tree may only have been proposed
		return Import(ctx, r.Git, p.Destination, p.Environment)
	}
	return Recover(ctx, r.Git, p.Destination, p.Environment, p.TreeHash, p.Commit)
}
