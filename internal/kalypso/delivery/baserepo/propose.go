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
	own, err := t.OwnBranch.Read(ctx)
	if err != nil {
		return err
	}
	return t.Check(found, pullrequest.Comparison{OwnBranch: own})
}

// fileChange is the change of the file that a pull request proposes. It implements [pullrequest.Change].
type fileChange struct {
	remote  Remote
	topic   *pullrequest.Topic
	desired *Desired
	before  *State // of which the plan was made

	found *githost.PullRequest // before the change, or nil

	// The last comparison set these.
	now    *State          // with the file on the target branch
	commit *gitbranch.Edit // nil: the target branch contains the desired file
}

// Begin implements [pullrequest.Change].
func (c *fileChange) Begin(_ context.Context, found *githost.PullRequest) (gitbranch.PushOptions, error) {
	c.found = found
	return gitbranch.PushOptions{}, nil
}

// Compare implements [pullrequest.Change].
func (c *fileChange) Compare(
	_ context.Context, target, ours *gitbranch.Snapshot,
) (compared pullrequest.Comparison, err error) {
	c.now, c.commit, err = c.desired.commit(target, c.before)
	if err != nil || c.commit == nil {
		compared.Discard = c.found != nil && c.found.State == githost.Open
		return compared, err
	}
	compared.OwnBranch, err = c.topic.OwnBranch.ReadSnapshot(ours)
	compared.Needed, compared.Contents = true, c.file()
	compared.Existing = compared.OwnBranch.Unchanged && compared.OwnBranch.Contents == c.file()
	return compared, err
}

// file returns the desired file.
func (c *fileChange) file() string { return string(c.commit.Files[document.File]) }

// Commit implements [pullrequest.Change].
func (c *fileChange) Commit() *gitbranch.Edit { return c.commit }

// Pushed implements [pullrequest.Change].
func (c *fileChange) Pushed(context.Context) error { return nil }

// Text implements [pullrequest.Change].
func (c *fileChange) Text(context.Context) pullrequest.Text {
	d := c.desired
	return pullrequest.Text{
		Message: d.message(), Body: c.remote.describe(d, c.now.Commit), Promoted: true, Reviewers: d.PullRequest.Reviewers,
	}
}

func (r Remote) propose(ctx context.Context, d *Desired, s *State) (*Result, error) {
	t, err := r.topic(d.At, d.PullRequest)
	if err != nil {
		return nil, err
	}
	change := &fileChange{remote: r, topic: t, desired: d, before: s}
	outcome, err := t.Run(ctx, s.known(d.At), change)
	now := change.now
	switch {
	case err != nil:
		return nil, err
	case outcome.PullRequest == nil: // the branch contains the file
		return &Result{State: now, Commit: now.Head}, nil
	}
	pr := outcome.PullRequest
	now.Proposal = &Proposal{
		Number: pr.Number, State: pr.State, Head: outcome.Head, AutoMerge: d.PullRequest.AutoMerge,
		Commit: d.Promotion.Commit, From: now.File, File: change.file(), Settings: d.PullRequest,
	}
	if pr.State != githost.Closed { // otherwise no review was requested again
		now.Proposal.RequestedReviewers = outcome.Requested
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
	now.State = pr.State
	if now.State == githost.Open {
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
