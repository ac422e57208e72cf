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
)

// PullRequests brings changes to their branch by pull requests on a host.
type PullRequests struct {
	Host hosting.Host
	PullRequestSettings
	// Sleep waits before the pull request is read again, the first time with try 1; nil: a second, which doubles up to half a
	// minute.
	Sleep func(ctx context.Context, try int) error
}

// PromotedLabel is that of a pull request that brings another promoted commit.
const PromotedLabel = "promoted"

// ReviewError is a pull request that did not become what was waited for.
type ReviewError struct {
	PullRequest *hosting.PullRequest
	Closed      bool // without being merged; else there was no more time
	// Untracked says that no state knows the pull request.
	Untracked bool
}

// Error implements error.
func (e *ReviewError) Error() string {
	if e.Closed {
		return fmt.Sprintf("pull request %d (%s) was closed without being merged", e.PullRequest.Number, e.PullRequest.URL)
	}
	return fmt.Sprintf("pull request %d (%s) is not merged yet, and the time is up", e.PullRequest.Number, e.PullRequest.URL)
}

func (r *PullRequests) sleep(ctx context.Context, try int) error {
	if r.Sleep != nil {
		return r.Sleep(ctx, try)
	}
	return clock.Sleep(ctx, min(time.Second<<min(try-1, 5), 30*time.Second))
}

// CheckReviewers returns whom of the reviewers the host can't ask, or nil. It asks nobody.
func (r *PullRequests) CheckReviewers(at Destination) error {
	repo, err := r.Host.Repo(at.Repo)
	if err != nil {
		return err
	}
	return repo.CheckReviewers(r.Reviewers)
}

// Check returns why the change could not be reviewed, or nil: a repo on another host, one that the host does not show, or a
// branch or pull request of others in place of ours. It returns the open pull request that the apply would take up, too, or nil.
// It changes nothing.
func (r *PullRequests) Check(ctx context.Context, client *gitremote.Client, d *Desired, s *State) (*hosting.PullRequest, error) {
	s = s.current()
	t, err := r.renderingTopic(client, d)
	if err != nil {
		return nil, err
	}
	found, err := t.find(ctx, s)
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

// checkOurs returns why our branch may not be written anew, or nil.
func (t *topic) checkOurs(ctx context.Context, d *Desired, s *State, found *hosting.PullRequest) error {
	snapshot, err := t.branch.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	ours, err := t.readOurs(ctx, snapshot, &BranchState{}, s.pushed())
	if err != nil || d.heldBy(ours.BranchState) {
		return err
	}
	return ours.mayRebuild(t.at, s, found)
}

// publish brings the pull request to the proposal, opening one where there is none to adopt, and waits for its merge as far
// as that is asked for. head is what was pushed, and known what the state knows of the pull request, or nil: the auto-merge that
// people asked for themselves stays. With an error there is the pull request as far as it got, or nil.
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
		if errors.Is(err, hosting.ErrRejected) { // people may have been faster
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

// openOrEdit edits the open pull request that is ours, or opens one. One that has ended since it was found is [errChanged], and
// stays as people know it.
func (t *topic) openOrEdit(ctx context.Context, found *hosting.PullRequest, p hosting.Proposal, known *Proposal) (*hosting.PullRequest, error) {
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
		p.Reviewers = without(p.Reviewers, known.Asked)
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

// wait looks at the pull request until it is merged.
func (r *PullRequests) wait(ctx context.Context, repo hosting.Repo, pr *hosting.PullRequest) (*hosting.PullRequest, error) {
	for try := 1; pr.State == hosting.Open; try++ {
		over := r.sleep(ctx, try) != nil
		look, cancel := finishing(ctx)
		now, err := repo.Read(look, pr.Number) // at the end of the time too: it may just have been merged
		cancel()
		switch {
		case err != nil && ctx.Err() == nil:
			return pr, err
		case err != nil, over && now.State == hosting.Open:
			return pr, &ReviewError{PullRequest: pr}
		case now.Target != pr.Target:
			now.State = hosting.Closed // people have it merged into another branch
		}
		pr = now
	}
	if pr.State == hosting.Closed {
		return pr, &ReviewError{PullRequest: pr, Closed: true}
	}
	return pr, nil
}

// finishTime is how long it may take to see what was done, once the time is up.
const finishTime = 20 * time.Second

// finishing returns a context to see what was done in: ctx, or another one for a short time where that has ended.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), finishTime)
}

// proposal returns the pull request for a commit of this message.
func (r *PullRequests) proposal(t *topic, message, text string, promoted bool) hosting.Proposal {
	title, _, _ := strings.Cut(strings.TrimSpace(printable.Text(message)), "\n")
	p := hosting.Proposal{
		Branch: t.at.Branch, Target: t.target, Title: cut(title, t.repo.MaxTitle(), "…"), Body: body(text, t.marker, t.repo.MaxBody()),
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

// body is a description with the marker at its end, cut to what the host takes.
func body(text, marker string, most int) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, marker, ""))
	return cut(text, most-len(marker)-len("\n\n\n"), "\n\n… (cut)") + "\n\n" + marker + "\n"
}

// cut returns a text of so many characters at most, which ends as said where it had more.
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

// characters are those of a text as hosts count them at most.
func characters(s string) int { return len(utf16.Encode([]rune(s))) }
