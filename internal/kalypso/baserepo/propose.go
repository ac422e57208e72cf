package baserepo

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pullrequest"
)

// topic returns the topic branch that proposes a change of the file.
func (r Remote) topic(at EnvironmentBranch, s pullrequest.Settings) (*pullrequest.Topic, error) {
	host, err := r.Host()
	if err != nil {
		return nil, err
	}
	marker := hosting.FileMarker(at.Branch, document.File)
	t, err := pullrequest.Open(r.Git, host, pullrequest.TopicLocation{
		Repo: at.Repo, Branch: pullrequest.BranchName(s.BranchPrefix, marker, "base-repo-"+at.Branch),
		Target: at.Branch, Path: document.File, Marker: marker,
	}, s)
	if err != nil {
		return nil, err
	}
	t.Contents = readFile
	return t, nil
}

// readFile reads the file from a branch; "": there is none.
func readFile(snapshot *gitops.Snapshot) (string, error) {
	if snapshot.Commit.IsZero() {
		return "", nil
	}
	files, err := snapshot.ReadFiles([]string{document.File})
	return string(files[document.File]), err
}

// proposalAt returns the proposal if it is one for the branch, or nil.
func (s *State) proposalAt(at EnvironmentBranch) *Proposal {
	if s == nil || !s.At.same(at) {
		return nil
	}
	return s.Proposal
}

// known returns what the state knows about the last run.
func (p *Proposal) known() *pullrequest.Known {
	if p == nil {
		return nil
	}
	return &pullrequest.Known{Number: p.Number, AutoMerge: p.AutoMerge, Reviewers: p.RequestedReviewers}
}

// checkTopic returns an error if the change can't be proposed: the host does not show the repo, or others own our
// branch or its pull request. It writes nothing.
func (r Remote) checkTopic(ctx context.Context, d *Desired, known *Proposal) error {
	t, err := r.topic(d.At, d.PullRequest)
	if err != nil {
		return err
	}
	if err := remote.CheckHost(t.Host(), d.PullRequest); err != nil {
		return err
	}
	found, err := t.Find(ctx, known.known())
	if err != nil {
		return err
	}
	return t.Check(ctx, found, func(_ context.Context, ours *gitops.Snapshot) (pullrequest.Edit, error) {
		edit, _, err := readTopic(t, ours)
		return edit, err
	})
}

// readTopic reads our branch, and the file there.
func readTopic(t *pullrequest.Topic, ours *gitops.Snapshot) (edit pullrequest.Edit, file string, err error) {
	if file, err = readFile(ours); err == nil {
		edit.Ours, err = t.ReadBranch(ours, file)
	}
	return edit, file, err
}

func (r Remote) propose(ctx context.Context, d *Desired, s *State) (*Result, error) {
	t, err := r.topic(d.At, d.PullRequest)
	if err != nil {
		return nil, err
	}
	host, err := r.Host()
	if err != nil {
		return nil, err
	}
	var now *State // with the file on the target branch
	var file string
	change := func(_ context.Context, found *hosting.PullRequest) (pullrequest.ProposedChange, error) {
		var c pullrequest.ProposedChange
		c.Edit = func(_ context.Context, target, ours *gitops.Snapshot) (edit pullrequest.Edit, err error) {
			if now, err = read(target, d.At); err != nil {
				return edit, err
			}
			after, err := d.checked(now, s)
			if file = string(after); err != nil || file == now.File {
				return pullrequest.Edit{Discard: found != nil && found.State == hosting.Open}, err
			}
			edit, contents, err := readTopic(t, ours)
			edit.Needed, edit.Existing, edit.Contents = true, edit.Ours.Ours && contents == file, file
			edit.Commit = func() *gitops.Edit {
				return &gitops.Edit{Files: map[string][]byte{document.File: after}, Message: d.message(), Author: d.Author}
			}
			return edit, err
		}
		c.Text = func() pullrequest.Text {
			return pullrequest.Text{Message: d.message(), Body: d.describe(host, now.Commit), Promoted: true}
		}
		return c, nil
	}
	run, err := t.Run(ctx, s.proposalAt(d.At).known(), change)
	switch {
	case err != nil:
		return nil, err
	case run.PullRequest == nil: // the branch contains the file
		return &Result{State: now, Commit: now.Head}, nil
	}
	pr := run.PullRequest
	now.Proposal = &Proposal{
		Number: pr.Number, State: pr.State, Head: run.Head, AutoMerge: d.PullRequest.AutoMerge,
		Commit: d.Promotion.Commit, From: now.File, File: file, Settings: d.PullRequest,
	}
	if pr.State != hosting.Closed { // else no review was requested again
		now.Proposal.RequestedReviewers = d.PullRequest.Reviewers
	}
	if pr.State != hosting.Merged {
		return &Result{State: now, PullRequest: pr}, nil
	}
	return r.Refresh(ctx, now)
}

// follow reads the pull request of the proposal, and returns the proposal with what became of it.
func (r Remote) follow(ctx context.Context, s *State) (*Proposal, *hosting.PullRequest, error) {
	now := *s.Proposal
	t, err := r.topic(s.At, now.Settings)
	if err != nil {
		return nil, nil, err
	}
	pr, err := t.Read(ctx, now.Number)
	if err != nil {
		return nil, nil, err
	}
	if now.State = pr.State; now.State == hosting.Open {
		head, err := t.Head(ctx)
		if err != nil {
			return nil, nil, err
		}
		now.Broken = head != now.Head
	}
	return &now, pr, nil
}

// withhold makes the open pull request a draft that must not be merged now.
func (r Remote) withhold(ctx context.Context, s *State, reason string) (*Result, error) {
	t, err := r.topic(s.At, s.Proposal.Settings)
	if err != nil {
		return nil, err
	}
	withheld, err := t.Withhold(ctx, s.Proposal.known(), reason)
	if err != nil {
		return nil, err
	}
	pr := withheld.PullRequest
	now, proposal := *s, *s.Proposal
	proposal.State, proposal.Withheld, proposal.AutoMerge, now.Proposal = pr.State, reason, "", &proposal
	if pr.State != hosting.Open { // people ended it
		return r.Refresh(ctx, &now)
	}
	return &Result{State: &now, PullRequest: pr, NoDraft: withheld.Warning()}, nil
}

// Forget closes the open pull request. The file stays as it is: the operator renders the environment from it.
func (r Remote) Forget(ctx context.Context, s *State) error {
	if !s.Proposal.open() {
		return nil
	}
	t, err := r.topic(s.At, s.Proposal.Settings)
	if err != nil {
		return err
	}
	found, err := t.Find(ctx, s.Proposal.known())
	if err != nil || found == nil || found.State != hosting.Open {
		return err
	}
	if err := t.Close(ctx, found, nil); !errors.Is(err, pullrequest.ErrChanged) {
		return err
	}
	return nil // people merged it
}

// message returns the message of the commit.
func (d *Desired) message() string {
	if d.Message != "" {
		return d.Message
	}
	const digits = 12 // of the hash, in the first line
	commit := printable.Line(d.Promotion.Commit)
	text := fmt.Sprintf("Set the base of %s to %.*s\n\nPromoted commit: %s\n", d.At.Branch, digits, commit, commit)
	if facts := d.Promotion.Facts(); facts != "" {
		text += "\n" + facts
	}
	return text
}

// describe returns the description of the pull request. was is the previous commit; "": none.
func (d *Desired) describe(host hosting.Host, was string) string {
	return describe.Promote(document.File, d.At.Branch, describe.PromotionChange{
		Repo: d.Promotion.Repo, From: was, To: d.Promotion.Commit, Why: d.Promotion.Summary,
	}, delivery.NewReview(host, d.At.Repo, delivery.NoDescription).Links)
}
