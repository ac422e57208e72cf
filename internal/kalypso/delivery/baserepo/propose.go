package baserepo

import (
	"cmp"
	"context"
	"errors"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// topic returns the topic branch that proposes a change of the file.
func (r Remote) topic(at EnvironmentBranch, s pullrequest.Settings) (*pullrequest.Topic, error) {
	host, err := r.Host()
	if err != nil {
		return nil, err
	}
	marker := githost.FileMarker(at.Branch, document.File)
	t, err := pullrequest.Open(r.Git, host, pullrequest.TopicLocation{
		Repo: at.Repo, Branch: pullrequest.BranchName(s.BranchPrefix, marker, "base-repo-"+at.Branch),
		Target: at.Branch, Path: document.File, Marker: marker,
	}, s)
	if err == nil {
		t.OwnBranch.Contents = readFile
	}
	return t, err
}

// readFile reads the file from a branch; "": there is none.
func readFile(snapshot *gitbranch.Snapshot) (string, error) {
	files, err := snapshot.ReadFiles([]string{document.File})
	return string(files[document.File]), err
}

// known returns the state's facts about the pull request for a branch, or nil.
func (s *State) known(at EnvironmentBranch) *pullrequest.Known {
	if s == nil || s.Proposal == nil || !s.At.same(at) {
		return nil
	}
	p := s.Proposal
	return &pullrequest.Known{Number: p.Number, AutoMerge: p.AutoMerge, Reviewers: p.RequestedReviewers}
}

// checkTopic returns an error if the change can't be proposed: the host does not show the repo, or our branch or its
// pull request is foreign. It writes nothing.
func (r Remote) checkTopic(ctx context.Context, d *Desired, s *State) error {
	t, err := r.topic(d.At, d.PullRequest)
	if err != nil {
		return err
	}
	if err := pullrequest.CheckHost(t.Host(), d.PullRequest); err != nil {
		return err
	}
	if errs := pullrequest.CheckSettings(ctx, t.Host(), t.Location.Target, d.PullRequest); len(errs) > 0 {
		return errors.Join(errs...)
	}
	found, err := t.Find(ctx, s.known(d.At))
	if err != nil {
		return err
	}
	return t.Check(ctx, found, func(_ context.Context, ours *gitbranch.Snapshot) (edit pullrequest.Edit, err error) {
		edit.OwnBranch, err = t.OwnBranch.ReadSnapshot(ours)
		return edit, err
	})
}

func (r Remote) propose(ctx context.Context, d *Desired, s *State) (*Result, error) {
	t, err := r.topic(d.At, d.PullRequest)
	if err != nil {
		return nil, err
	}
	var now *State // with the file on the target branch
	var file string
	change := func(_ context.Context, found *githost.PullRequest) (pullrequest.ProposedChange, error) {
		var c pullrequest.ProposedChange
		c.Edit = func(_ context.Context, target, ours *gitbranch.Snapshot) (edit pullrequest.Edit, err error) {
			var commit *gitbranch.Edit
			if now, commit, err = d.commit(target, s); err != nil || commit == nil {
				return pullrequest.Edit{Discard: found != nil && found.State == githost.Open}, err
			}
			file = string(commit.Files[document.File])
			edit.OwnBranch, err = t.OwnBranch.ReadSnapshot(ours)
			edit.Needed, edit.Existing, edit.Contents = true, edit.OwnBranch.Unchanged && edit.OwnBranch.Contents == file, file
			edit.Commit = func() *gitbranch.Edit { return commit }
			return edit, err
		}
		c.Text = func(context.Context) pullrequest.Text {
			return pullrequest.Text{
				Message: d.message(), Body: r.describe(d, now.Commit), Promoted: true, Reviewers: d.PullRequest.Reviewers,
			}
		}
		return c, nil
	}
	run, err := t.Run(ctx, s.known(d.At), change)
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
	if pr.State != githost.Closed { // otherwise no review was requested again
		now.Proposal.RequestedReviewers = run.Requested
	}
	if pr.State != githost.Merged {
		return &Result{State: now, PullRequest: pr}, nil
	}
	return r.Refresh(ctx, now)
}

// follow reads the pull request of the proposal, if there is one, and returns the proposal with its current state.
func (r Remote) follow(ctx context.Context, s *State) (*Proposal, *githost.PullRequest, error) {
	if s.Proposal == nil {
		return nil, nil, nil
	}
	now := *s.Proposal
	t, err := r.topic(s.At, now.Settings)
	if err != nil {
		return nil, nil, err
	}
	pr, err := t.ReadRequested(ctx, now.Number, now.AutoMerge)
	if err != nil {
		return nil, nil, err
	}
	if now.State = pr.State; now.State == githost.Open {
		var head string
		head, err = t.OwnBranch.Head(ctx)
		now.Broken = head != now.Head || pr.Draft && !now.Settings.Draft && now.Withheld == ""
		pr.HeadCommit = cmp.Or(head, pr.HeadCommit) // some hosts show a push late
	}
	return &now, pr, err
}

// withhold makes the open pull request a draft that must not be merged now.
func (r Remote) withhold(ctx context.Context, s *State, reason string) (*Result, error) {
	t, err := r.topic(s.At, s.Proposal.Settings)
	if err != nil {
		return nil, err
	}
	withheld, err := t.Withhold(ctx, s.known(s.At), reason)
	if err != nil {
		return nil, err
	}
	pr := withheld.PullRequest
	now, proposal := *s, *s.Proposal
	proposal.State, proposal.Withheld, proposal.AutoMerge, now.Proposal = pr.State, reason, "", &proposal
	if pr.State != githost.Open { // people ended it
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
	found, err := t.Find(ctx, s.known(s.At))
	if err != nil || found == nil || found.State != githost.Open {
		return err
	}
	if err := t.Close(ctx, found, nil); !errors.Is(err, pullrequest.ErrChanged) {
		return err
	}
	return nil // people merged it
}

// message returns the message of the commit.
func (d *Desired) message() string {
	return cmp.Or(d.Message, describe.PromotionMessage(d.At.Branch, d.Promotion.Commit, d.Promotion.Facts()))
}

// describe returns the description of the pull request. was is the previous commit; "": none.
func (r Remote) describe(d *Desired, was string) string {
	host, _ := r.Host() // without one, there are no links
	return describe.Promote(document.File, d.At.Branch, describe.PromotionChange{
		Repo: d.Promotion.Repo, From: was, To: d.Promotion.Commit, Explanation: d.Promotion.Summary,
	}, pullrequest.Links(host))
}
