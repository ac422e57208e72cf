package baserepo

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Remote reads and writes branches and pull requests.
type Remote struct {
	Git *gitremote.Client
	// Host returns the host of the pull requests. It is called only if a pull request is read or written.
	Host func() (githost.Host, error)
}

// Result is the result of an apply.
type Result struct {
	State  *State
	Commit string // on the branch, that contains the file; "": it does not contain it yet
	// PullRequest proposes the file; nil: none does.
	PullRequest *githost.PullRequest
	// NoDraft warns that the host does not make the withheld pull request a draft; "": nothing to warn of.
	NoDraft string
}

// Read reads the branch. It returns [gitbranch.ErrBranchNotFound] if there is none. A file that can't be read as a
// BaseRepo pins nothing.
func (r Remote) Read(ctx context.Context, at EnvironmentBranch) (*State, error) {
	snapshot, err := gitbranch.ReadHead(ctx, r.Git, at.Repo, at.Branch)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	return read(snapshot, at)
}

func read(snapshot *gitbranch.Snapshot, at EnvironmentBranch) (*State, error) {
	if snapshot.Commit.IsZero() {
		return nil, gitbranch.ErrBranchNotFound
	}
	file, err := readFile(snapshot)
	if err != nil {
		return nil, err
	}
	s := &State{At: at, Head: snapshot.Commit.String(), File: file}
	s.setCommit()
	return s, nil
}

// Check reads the branch, and returns its state, and an error if the apply would fail. It writes nothing.
func (r Remote) Check(ctx context.Context, d *Desired, s *State) (*State, error) {
	now, err := r.Read(ctx, d.At)
	if err == nil {
		_, err = d.edit([]byte(now.File))
	}
	if err != nil || d.Strategy != destination.PullRequest {
		return now, err
	}
	return now, r.checkTopic(ctx, d, s)
}

// Apply makes the BaseRepo pin the commit: by a commit on the branch, or by a pull request. s is nil for a create. If
// the file was changed outside Terraform after the plan was made, the error is [ErrMoved]. After an error, applying
// again completes it.
func (r Remote) Apply(ctx context.Context, d *Desired, s *State) (*Result, error) {
	if Decide(d, s).Withhold {
		return r.withhold(ctx, s, d.idleReason(s))
	}
	d = d.KeepDelivered(s)
	write := r.push
	if d.Strategy == destination.PullRequest {
		write = r.propose
	}
	result, err := write(ctx, d, s)
	if err != nil {
		return nil, err
	}
	if s != nil && s.Proposal.open() && (!s.At.same(d.At) || d.Strategy != destination.PullRequest) {
		if err := r.Forget(ctx, s); err != nil {
			return nil, fmt.Errorf("%s is written, but the pull request from before is still open; the next apply tries "+
				"again: %w", document.File, err)
		}
	}
	return result, nil
}

func (r Remote) push(ctx context.Context, d *Desired, s *State) (*Result, error) {
	branch, err := gitbranch.Open(r.Git, d.At.Repo, d.At.Branch)
	if err != nil {
		return nil, err
	}
	var now *State
	for attempt, err := range branch.Attempts(ctx, gitbranch.PushOptions{}) {
		if err != nil {
			return nil, err
		}
		var commit *gitbranch.Edit
		now, commit, err = d.commit(attempt.Base, s)
		if err != nil {
			return nil, attempt.Failed(err)
		}
		pushed, err := attempt.Push(ctx, commit)
		if err != nil {
			continue
		}
		if commit != nil {
			now.File = string(commit.Files[document.File])
		}
		now.Head = pushed.Commit.String()
	}
	now.setCommit()
	return &Result{State: now, Commit: now.Head}, nil
}

// commit returns the state of a branch that was read, and the commit that changes it, or nil if the branch contains the
// desired file. It returns [ErrMoved] if the file was changed outside Terraform after the plan was made.
func (d *Desired) commit(snapshot *gitbranch.Snapshot, s *State) (*State, *gitbranch.Edit, error) {
	now, err := read(snapshot, d.At)
	if err != nil {
		return nil, nil, err
	}
	if planned := Decide(d, s); planned.FileKnown && now.File != s.File && now.File != planned.File {
		return nil, nil, fmt.Errorf("%w: it pins %q now", ErrMoved, now.Commit)
	}
	file, err := d.edit([]byte(now.File))
	if err != nil || string(file) == now.File {
		return now, nil, err
	}
	return now, &gitbranch.Edit{
		Files: map[string][]byte{document.File: file}, Message: d.message(), NoTrailers: d.Message == "",
		Author: d.Author,
	}, nil
}

// setCommit sets the commit that the file pins, and treats it as delivered.
func (s *State) setCommit() {
	if found, err := document.Parse([]byte(s.File)); err == nil {
		s.Commit = found.Commit
	}
	s.Delivered, s.Since = s.Commit, s.Head
}

// Refresh reads the current state of a branch and its pull request. The error is [gitbranch.ErrBranchNotFound] if the
// branch is gone.
func (r Remote) Refresh(ctx context.Context, s *State) (*Result, error) {
	if s.nothing() {
		return &Result{State: s}, nil
	}
	proposal, pr, err := r.follow(ctx, s) // before the branch, which then includes a merge
	if err != nil {
		return nil, err
	}
	now, err := r.Read(ctx, s.At)
	if err != nil {
		return nil, err
	}
	now.Delivered, now.Since, now.Proposal = s.Delivered, s.Since, proposal
	switch {
	case proposal == nil:
	case proposal.State == githost.Merged:
		now.Delivered, now.Since, now.Proposal = proposal.Commit, pr.MergeCommit, nil
	case now.Commit == proposal.Commit: // pushed without the pull request
		now.Delivered, now.Since = now.Commit, now.Head
	}
	result := &Result{State: now, PullRequest: pr}
	if now.Commit != now.Delivered {
		branch, failed := gitbranch.Open(r.Git, now.At.Repo, now.At.Branch)
		if failed != nil {
			return nil, failed
		}
		now.Drift, err = drift.Since(ctx, branch, now.Since, []string{document.File})
	} else if now.Proposal == nil || now.Commit == now.Proposal.Commit {
		result.Commit = now.Since
	}
	return result, err
}
