package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
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

func (r Remote) pullRequests(d *Desired) (*PullRequests, error) {
	host, err := r.Host()
	if err != nil {
		return nil, err
	}
	return &PullRequests{Git: r.Git, Host: host, Settings: d.PullRequest}, nil
}

// ReviewersError says which reviewers the host can't request a review from.
type ReviewersError struct{ Reason string }

// Error implements error.
func (e *ReviewersError) Error() string { return e.Reason }

// CheckReviewers returns a *ReviewersError if the host can't request a review from all reviewers. It contacts no
// server.
func (r Remote) CheckReviewers(d *Desired) error {
	if d.Strategy != PullRequest || d.Incomplete || len(d.PullRequest.Reviewers) == 0 {
		return nil
	}
	pulls, err := r.pullRequests(d)
	if err != nil {
		return err
	}
	err = pulls.CheckReviewers(d.Destination)
	if err == nil || errors.Is(err, hosting.ErrOtherHost) { // which Check reports
		return nil
	}
	return &ReviewersError{err.Error()}
}

// Check reads from the branch what the decision needs and the state does not know. It returns warnings about what the
// apply would change there, and an error if the apply would fail. It writes nothing.
func (r Remote) Check(
	ctx context.Context, d *Desired, p *Prior, s *State, decision *Decision,
) (ps problem.Problems, err error) {
	if decision.Unreadable {
		if s, ps, err = r.recoverForChange(ctx, d, p); err != nil {
			return ps, err
		}
	}
	if !decision.Check || len(decision.Errors) > 0 {
		return ps, nil
	}
	if d.Strategy == PullRequest {
		pulls, err := r.pullRequests(d)
		if err != nil {
			return ps, err
		}
		open, err := pulls.Check(ctx, d, s)
		if err != nil {
			return ps, err
		}
		if open != nil {
			ps = append(ps, openProblem(d.Destination, open))
		}
	}
	change, err := Check(ctx, r.Git, d, s)
	if err != nil {
		return ps, err
	}
	return append(ps, change.Problems(d.Destination)...), nil
}

// Apply does what [Decide] decides. With an error, it may have written a part of it: then applying again completes it.
func (r Remote) Apply(ctx context.Context, d *Desired, p *Prior, s *State) (*Result, error) {
	s = d.Accept(p, s)
	decision := Decide(d, p, s)
	var recovered problem.Problems
	var result *Result
	var err error
	switch {
	case decision.Action == Nothing:
		result = &Result{}
	case decision.Rests != "" && decision.Action == Keep:
		result = &Result{State: s}
	case decision.Action == Withhold:
		result, err = r.withhold(ctx, d, s, decision.Withheld)
	case decision.Action == Keep:
		result = &Result{State: s.WithInputs(d).WithTarget(d.TargetTreeHash())}
	case decision.Action == RemoveOld:
		result, err = r.removeOld(ctx, d, s)
	case d.Strategy == ComputeOnly:
		result = Compute(d, s)
	default:
		if decision.Unreadable {
			if s, recovered, err = r.recoverForChange(ctx, d, p); err != nil {
				return nil, err
			}
		}
		if err := r.Claims.deliver(d.Destination); err != nil {
			return nil, err
		}
		result, err = r.deliver(ctx, d, s)
	}
	if err != nil {
		return nil, err
	}
	result.Action = decision.Action
	if result.Action == Keep || result.Action == Nothing {
		return result, nil
	}
	result.Warnings = append(recovered, result.warnings(d)...)
	return result, nil
}

func (r Remote) withhold(ctx context.Context, d *Desired, s *State, reason string) (*Result, error) {
	pulls, err := r.pullRequests(d)
	if err != nil {
		return nil, err
	}
	return pulls.Withhold(ctx, s, reason)
}

// removeOld removes what was delivered to other branches before.
func (r Remote) removeOld(ctx context.Context, d *Desired, s *State) (*Result, error) {
	pulls, err := r.pullRequests(d)
	if err != nil {
		return nil, err
	}
	after, removals, err := pulls.RemoveOld(ctx, d, s)
	if err != nil {
		return nil, err
	}
	return &Result{State: after.WithInputs(d).WithTarget(d.TargetTreeHash()), Removals: removals}, nil
}

// deliver delivers the tree by its strategy. After a change of the strategy to [Push], it closes the pull requests.
func (r Remote) deliver(ctx context.Context, d *Desired, s *State) (*Result, error) {
	reviewed := s.Current() && s.Reviewed()
	if d.Strategy == Push && !reviewed {
		return Deliver(ctx, r.Git, d, s, r.Progress)
	}
	pulls, err := r.pullRequests(d)
	switch {
	case err != nil:
		return nil, err
	case d.Strategy == PullRequest:
		return pulls.Propose(ctx, d, s, r.Progress)
	}
	result, err := Deliver(ctx, r.Git, d, s, r.Progress)
	if err != nil {
		return nil, err
	}
	return result, pulls.ClosePullRequests(ctx, s)
}

// Refreshed is what a refresh found.
type Refreshed struct {
	State       *State               // to keep from now on; nil if the branch holds no record of the rendering
	Changed     bool                 // State differs from the state before
	Gone        bool                 // nothing of the rendering is left
	Commit      string               // the commit on the branch that holds the tree; empty if none does
	Delivered   bool                 // the branch still holds the tree
	PullRequest *hosting.PullRequest // nil if none was read
	Warnings    problem.Problems
}

// Refresh reads what became of what was delivered or proposed. It returns nil if nothing was.
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
		return &Refreshed{Gone: true, Warnings: problem.Problems{warning("The branch of a rendering is gone", fmt.Sprintf(
			"Environment %q was rendered to %s. That branch no longer exists. The plan creates the rendering again.",
			p.Environment, p.Destination))}}, nil
	case errors.Is(err, ErrNoRendering):
		return nil, nil // the plan delivers it again
	case err != nil:
		return nil, err
	}
	found.Commit, found.Delivered = p.found(found.State, found.PullRequest)
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

// Destroy removes what was delivered. It returns warnings, and with an error the state to keep, or nil.
func (r Remote) Destroy(ctx context.Context, d *Desired, p *Prior, s *State) (*State, problem.Problems, error) {
	if d.KeepOnDestroy || !p.delivered() {
		return nil, nil, nil
	}
	if !s.Current() {
		s = &State{Destination: d.Destination, Environment: d.Environment}
	}
	if r.Claims.taken(s.Destination) {
		// A resource that was renamed without a moved block, or is replaced with create_before_destroy.
		detail := fmt.Sprintf(
			"Another rendering of this configuration writes to %s. Nothing was removed there.", s.Destination)
		return nil, problem.Problems{warning("The tree was left to its new rendering", detail, "gitops_repo")}, nil
	}
	if d.Strategy == Push {
		return nil, nil, Remove(ctx, r.Git, s, removalMessage(s), d.Author)
	}
	pulls, err := r.pullRequests(d)
	if err != nil {
		return nil, nil, err
	}
	after, removals, err := pulls.Destroy(ctx, d, s)
	if err != nil {
		return after, nil, err
	}
	return nil, removalProblems(removals), nil
}

// recoverForChange is [Remote.recoverPrior] for a change. What others changed meanwhile is a warning, or a
// *DriftError if d does not overwrite drift. The state is nil if nothing of the rendering is left.
func (r Remote) recoverForChange(ctx context.Context, d *Desired, p *Prior) (*State, problem.Problems, error) {
	s, err := r.recoverPrior(ctx, p)
	gone := errors.Is(err, gitops.ErrBranchNotFound) || errors.Is(err, ErrNoRendering)
	if err != nil && !gone {
		return nil, nil, err
	}
	var ps problem.Problems
	if s != nil && s.Drifted() {
		ps = problem.Problems{s.driftProblem(d.OnDrift)}
		if ps.HasErrors() {
			return nil, nil, &DriftError{s}
		}
	}
	if gone {
		s = nil
	}
	return s, ps, nil
}

// recoverPrior reads from the branch what the private state would say. It is needed if another version of the provider
// wrote the private state. [Remote.Refresh] writes it again; without a refresh, a change recovers it too.
func (r Remote) recoverPrior(ctx context.Context, p *Prior) (*State, error) {
	if p.Commit == "" || p.Strategy != Push && !p.Delivered { // the tree may only have been proposed
		return Import(ctx, r.Git, p.Destination, p.Environment)
	}
	return Recover(ctx, r.Git, p.Destination, p.Environment, p.TreeHash, p.Commit)
}
