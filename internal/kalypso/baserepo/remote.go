package baserepo

import (
	"context"
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// Remote reads and writes branches and pull requests.
type Remote struct {
	Git *gitremote.Client
	// Host returns the host of the pull requests. It is called only if a pull request is read or written.
	Host func() (hosting.Host, error)
}

// Result is what an apply did.
type Result struct {
	State  *State
	Commit string // on the branch, that holds the file; "": it does not hold it yet
	// PullRequest proposes the file; nil: none does.
	PullRequest *hosting.PullRequest
}

func (r Remote) pullRequests(s delivery.PullRequestSettings) (*delivery.PullRequests, error) {
	host, err := r.Host()
	if err != nil {
		return nil, err
	}
	return &delivery.PullRequests{Host: host, PullRequestSettings: s}, nil
}

func (b Branch) change(p *Proposal) delivery.FileChange {
	c := delivery.FileChange{Target: b.destination(), Name: "base-repo-" + b.Branch}
	if p != nil {
		c.Known = &p.FileProposal
	}
	return c
}

// Read reads the branch. It returns [gitops.ErrBranchNotFound] if there is none. A file that can't be read as a
// BaseRepo pins nothing.
func (r Remote) Read(ctx context.Context, at Branch) (*State, error) {
	branch, err := gitops.Open(r.Git, at.Repo, at.Branch)
	if err != nil {
		return nil, err
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	if snapshot.Commit.IsZero() {
		return nil, gitops.ErrBranchNotFound
	}
	return read(snapshot, at)
}

func read(snapshot *gitops.Snapshot, at Branch) (*State, error) {
	files, err := snapshot.ReadFiles([]string{File})
	if err != nil {
		return nil, err
	}
	s := &State{At: at, Head: snapshot.Commit.String(), File: string(files[File])}
	s.setCommit()
	return s, nil
}

// Check reads the branch, and returns what it holds and an error if the apply would fail. It writes nothing.
func (r Remote) Check(ctx context.Context, d *Desired, s *State) (*State, error) {
	now, err := r.Read(ctx, d.At)
	if err != nil {
		return nil, err
	}
	if _, err := d.edit([]byte(now.File)); err != nil {
		return nil, err
	}
	if d.Strategy != delivery.PullRequest {
		return now, nil
	}
	pulls, err := r.pullRequests(d.PullRequest)
	if err != nil {
		return nil, err
	}
	return now, pulls.CheckFile(ctx, r.Git, d.At.change(s.proposalAt(d.At)))
}

// proposalAt returns the proposal if it is one for the branch, or nil.
func (s *State) proposalAt(at Branch) *Proposal {
	if s == nil || !s.At.same(at) {
		return nil
	}
	return s.Proposal
}

// Apply makes the BaseRepo pin the commit: by a commit on the branch, or by a pull request. s is nil for a create. If
// others changed the file after the plan was made, the error is [ErrMoved]. After an error, applying again completes
// it.
func (r Remote) Apply(ctx context.Context, d *Desired, s *State) (*Result, error) {
	d = d.staying(s)
	write := r.push
	if d.Strategy == delivery.PullRequest {
		write = r.propose
	}
	result, err := write(ctx, d, s)
	if err != nil {
		return nil, err
	}
	if s != nil && s.Proposal.open() && (!s.At.same(d.At) || d.Strategy != delivery.PullRequest) {
		if err := r.Forget(ctx, s); err != nil {
			return nil, fmt.Errorf("%s is written, but the pull request from before is still open; the next apply tries "+
				"again: %w", File, err)
		}
	}
	return result, nil
}

func (r Remote) push(ctx context.Context, d *Desired, s *State) (*Result, error) {
	branch, err := gitops.Open(r.Git, d.At.Repo, d.At.Branch)
	if err != nil {
		return nil, err
	}
	var now *State
	edit := func(_ context.Context, snapshot *gitops.Snapshot) (*gitops.Edit, error) {
		if snapshot.Commit.IsZero() {
			return nil, gitops.ErrBranchNotFound
		}
		var err error
		if now, err = read(snapshot, d.At); err != nil {
			return nil, err
		}
		file, err := d.checked(now, s)
		if err != nil || string(file) == now.File {
			return nil, err
		}
		now.File = string(file)
		return &gitops.Edit{Files: map[string][]byte{File: file}, Message: d.message(), Author: d.Author}, nil
	}
	pushed, err := branch.Update(ctx, gitops.UpdateOptions{}, edit)
	if err != nil {
		return nil, err
	}
	now.Head = pushed.Commit.String()
	now.setCommit()
	return &Result{State: now, Commit: now.Head}, nil
}

func (r Remote) propose(ctx context.Context, d *Desired, s *State) (*Result, error) {
	pulls, err := r.pullRequests(d.PullRequest)
	if err != nil {
		return nil, err
	}
	change, now, file := d.At.change(s.proposalAt(d.At)), (*State)(nil), ""
	change.Author = d.Author
	change.Edit = func(head string, before []byte) ([]byte, string, string, error) {
		now = &State{At: d.At, Head: head, File: string(before)}
		now.setCommit()
		after, err := d.checked(now, s)
		file = string(after)
		return after, d.message(), d.describe(pulls.Host, now.Commit), err
	}
	pr, proposal, err := pulls.ProposeFile(ctx, r.Git, change)
	switch {
	case err != nil:
		return nil, err
	case proposal == nil:
		return &Result{State: now, Commit: now.Head}, nil
	}
	now.Proposal = &Proposal{
		FileProposal: *proposal, Commit: d.Promotion.Commit, From: now.File, File: file, Settings: d.PullRequest,
	}
	if proposal.State != hosting.Merged {
		return &Result{State: now, PullRequest: pr}, nil
	}
	return r.Refresh(ctx, now)
}

// checked returns the file to write. It returns an error if others changed the file after the plan was made.
func (d *Desired) checked(now, s *State) ([]byte, error) {
	if planned := Decide(d, s); planned.FileKnown && now.File != s.File && now.File != planned.File {
		return nil, fmt.Errorf("%w: it pins %q now", ErrMoved, now.Commit)
	}
	return d.edit([]byte(now.File))
}

// setCommit sets the commit that the file pins, and treats it as delivered.
func (s *State) setCommit() {
	if found, err := Parse([]byte(s.File)); err == nil {
		s.Commit = found.Commit
	}
	s.Delivered, s.Since = s.Commit, s.Head
}

// Refresh reads the current state of a branch and its pull request. The error is [gitops.ErrBranchNotFound] if the
// branch is gone.
func (r Remote) Refresh(ctx context.Context, s *State) (*Result, error) {
	result := &Result{}
	proposal := s.Proposal
	if proposal != nil { // read before the branch, which then includes a merge
		pulls, err := r.pullRequests(proposal.Settings)
		if err != nil {
			return nil, err
		}
		next := *proposal
		pr, found, err := pulls.ReadFileProposal(ctx, r.Git, s.At.change(proposal))
		if err != nil {
			return nil, err
		}
		next.FileProposal = *found
		result.PullRequest, proposal = pr, &next
	}
	now, err := r.Read(ctx, s.At)
	if err != nil {
		return nil, err
	}
	now.Delivered, now.Since, now.Proposal = s.Delivered, s.Since, proposal
	switch {
	case proposal == nil:
	case proposal.State == hosting.Merged:
		now.Delivered, now.Since, now.Proposal = proposal.Commit, result.PullRequest.MergeCommit, nil
	case now.Commit == proposal.Commit: // somebody pushed it
		now.Delivered, now.Since = now.Commit, now.Head
	}
	switch {
	case now.Commit != now.Delivered:
		if now.Drift, err = r.drift(ctx, now); err != nil {
			return nil, err
		}
	case now.Proposal == nil || now.Commit == now.Proposal.Commit:
		result.Commit = now.Since
	}
	result.State = now
	return result, nil
}

func (r Remote) drift(ctx context.Context, s *State) ([]delivery.Drift, error) {
	branch, err := gitops.Open(r.Git, s.At.Repo, s.At.Branch)
	if err != nil {
		return nil, err
	}
	return delivery.DriftSince(ctx, branch, s.Since, []string{File})
}

// Forget closes the open pull request. The file stays as it is: the operator renders the environment from it.
func (r Remote) Forget(ctx context.Context, s *State) error {
	if !s.Proposal.open() {
		return nil
	}
	pulls, err := r.pullRequests(s.Proposal.Settings)
	if err != nil {
		return err
	}
	return pulls.CloseFile(ctx, r.Git, s.At.change(s.Proposal))
}

// message returns the message of the commit.
func (d *Desired) message() string {
	if d.Message != "" {
		return d.Message
	}
	const digits = 12 // of the hash, in the first line
	commit := printable.Line(d.Promotion.Commit)
	text := fmt.Sprintf("Set the base of %s to %.*s\n\nPromoted commit: %s\n", d.At.Branch, digits, commit, commit)
	if d.Promotion.Summary != "" {
		text += "\n" + strings.TrimSpace(printable.Text(d.Promotion.Summary)) + "\n"
	}
	return text
}

// describe returns the description of the pull request. was is the previous commit; "": none.
func (d *Desired) describe(host hosting.Host, was string) string {
	return describe.Promote(File, d.At.Branch, describe.Promotion{
		Repo: d.Promotion.Repo, From: was, To: d.Promotion.Commit, Why: d.Promotion.Summary,
	}, delivery.NewReview(host, d.At.Repo, delivery.NoDescription).Links)
}
