package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// PullRequests delivers changes by pull requests on a host.
type PullRequests struct {
	Host hosting.Host
	PullRequestSettings
	// Sleep waits before the pull request is read again. try starts at 1. If it is nil, the wait doubles from one second
	// to half a minute.
	Sleep func(ctx context.Context, try int) error
}

// PromotedLabel labels pull requests that promote another commit.
const PromotedLabel = "promoted"

// ReviewError says that a pull request was not merged while the apply waited.
type ReviewError struct {
	PullRequest *hosting.PullRequest
	Closed      bool // closed without being merged; otherwise the time ran out
	Untracked   bool // the state does not know the pull request
}

// Error implements error.
func (e *ReviewError) Error() string {
	if e.Closed {
		return fmt.Sprintf("pull request %d (%s) was closed without being merged", e.PullRequest.Number, e.PullRequest.URL)
	}
	return fmt.Sprintf(
		"pull request %d (%s) is not merged yet, and the time is up", e.PullRequest.Number, e.PullRequest.URL)
}

func (r *PullRequests) sleep(ctx context.Context, try int) error {
	if r.Sleep != nil {
		return r.Sleep(ctx, try)
	}
	return clock.Sleep(ctx, min(time.Second<<min(try-1, 5), 30*time.Second))
}

// CheckReviewers returns an error if the host can't request a review from one of the reviewers. It requests none.
func (r *PullRequests) CheckReviewers(at record.Destination) error {
	repo, err := r.Host.Repo(at.Repo)
	if err != nil {
		return err
	}
	return repo.CheckReviewers(r.Reviewers)
}

// Check returns an error if the change can't be proposed: the repo is on another host, the host does not show it, or
// others own our branch or its pull request. It also returns the open pull request that the apply would continue
// with, or nil. It writes nothing.
func (r *PullRequests) Check(
	ctx context.Context, client *gitremote.Client, d *Desired, s *State,
) (*hosting.PullRequest, error) {
	s = s.current()
	t, err := r.renderingTopic(client, d)
	if err != nil {
		return nil, err
	}
	found, err := t.find(ctx, s.proposed())
	if err != nil {
		return nil, err
	}
	if d.Tree != nil {
		if err := t.checkOurs(ctx, d, s, found); err != nil {
			return nil, err
		}
	}
	if found != nil && found.State != hosting.Open {
		found = nil
	}
	return found, nil
}

// checkOurs returns an error if a push must not replace our branch.
func (t *topic) checkOurs(ctx context.Context, d *Desired, s *State, found *hosting.PullRequest) error {
	snapshot, err := t.branch.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	ours, err := t.readOurs(ctx, snapshot, &BranchState{}, s.pushed())
	if err != nil || d.isHeldBy(ours.BranchState) {
		return err
	}
	return ours.checkPush(t.at, s, found)
}

// publish opens or edits the pull request, and waits for its merge if that is configured. head is the pushed commit,
// and known what the state knows about the pull request, or nil. It keeps an auto-merge that people requested. With
// an error, it returns the pull request if there is one.
func (r *PullRequests) publish(
	ctx context.Context, t *topic, found *hosting.PullRequest, p hosting.Proposal, head string, known *Proposal,
) (*hosting.PullRequest, error) {
	pr, err := t.openOrEdit(ctx, found, p, known)
	if err != nil {
		return pr, err
	}
	pr.HeadCommit = head
	if r.AutoMerge != "" || known != nil && known.AutoMerge != "" && pr.AutoMerge == known.AutoMerge {
		merging, err := t.repo.MergeWhenReady(ctx, *pr, r.AutoMerge)
		if errors.Is(err, hosting.ErrRejected) { // people may have merged it
			if now, failed := t.repo.Read(ctx, pr.Number); failed == nil && now.State == hosting.Merged {
				merging, err = now, nil
			}
		}
		if err != nil {
			return pr, err
		}
		pr = merging
	}
	if r.Wait {
		return r.wait(ctx, t.repo, pr)
	}
	return pr, nil
}

// openOrEdit edits our open pull request, or opens one. If it was merged or closed after it was found, the error is
// [errChanged].
func (t *topic) openOrEdit(
	ctx context.Context, found *hosting.PullRequest, p hosting.Proposal, known *Proposal,
) (*hosting.PullRequest, error) {
	if found == nil || found.State != hosting.Open {
		opened, err := t.repo.Open(ctx, p)
		if errors.Is(err, hosting.ErrExists) {
			err = fmt.Errorf("%w: %w", errChanged, err)
		}
		return opened, err
	}
	now, err := t.repo.Read(ctx, found.Number)
	switch {
	case err != nil:
		return nil, err
	case now.State != hosting.Open || now.Target != t.target:
		return nil, errChanged
	case known != nil:
		p.Reviewers = without(p.Reviewers, known.RequestedReviewers)
	default:
		if p.Reviewers, err = t.repo.Unasked(ctx, *now, p.Reviewers); err != nil {
			return nil, err
		}
	}
	edited, err := t.repo.Edit(ctx, *now, p)
	if err == nil && edited.State != hosting.Open {
		err = errChanged
	}
	return edited, err
}

// wait reads the pull request until it is merged.
func (r *PullRequests) wait(
	ctx context.Context, repo hosting.Repo, pr *hosting.PullRequest,
) (*hosting.PullRequest, error) {
	for try := 1; pr.State == hosting.Open; try++ {
		outOfTime := r.sleep(ctx, try) != nil
		read, cancel := finishContext(ctx)
		now, err := repo.Read(read, pr.Number) // even if the time ran out: it may just have been merged
		cancel()
		switch {
		case err != nil && ctx.Err() == nil:
			return pr, err
		case err != nil, outOfTime && now.State == hosting.Open:
			return pr, &ReviewError{PullRequest: pr}
		case now.Target != pr.Target:
			now.State = hosting.Closed // people changed its target branch
		}
		pr = now
	}
	if pr.State == hosting.Closed {
		return pr, &ReviewError{PullRequest: pr, Closed: true}
	}
	return pr, nil
}

// finishTimeout limits the time for reading the result after the operation's time ran out.
const finishTimeout = 20 * time.Second

// finishContext returns a context for reading the result: ctx, or a short one if ctx is done.
func finishContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
}

// proposal returns the pull request for a commit message and a description.
func (r *PullRequests) proposal(t *topic, message, text string, promoted bool) hosting.Proposal {
	title, _, _ := strings.Cut(strings.TrimSpace(printable.Text(message)), "\n")
	p := hosting.Proposal{
		Branch: t.at.Branch, Target: t.target,
		Title: cut(title, t.repo.MaxTitle(), "…"), Body: body(text, t.marker, t.repo.MaxBody()),
		Labels: r.Labels, Reviewers: r.Reviewers, Draft: r.Draft,
	}
	switch {
	case promoted:
		p.Labels = append(without(r.Labels, []string{PromotedLabel}), PromotedLabel)
	case len(without([]string{PromotedLabel}, r.Labels)) > 0:
		p.RemoveLabels = []string{PromotedLabel}
	}
	return p
}

// body returns a description with the marker at its end. It shortens the description to the host's limit.
func body(text, marker string, most int) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, marker, ""))
	return cut(text, most-len(marker)-len("\n\n\n"), "\n\n… (cut)") + "\n\n" + marker + "\n"
}

// cut shortens a text to most characters, including end. It adds end only if it shortens the text.
func cut(text string, most int, end string) string {
	n := characters(text)
	if n <= most {
		return text
	}
	runes := []rune(text)
	for room := most - characters(end); n > room; {
		n -= characters(string(runes[len(runes)-1]))
		runes = runes[:len(runes)-1]
	}
	return string(runes) + end
}

// characters counts characters as UTF-16 code units, like the strictest host.
func characters(s string) int { return len(utf16.Encode([]rune(s))) }
