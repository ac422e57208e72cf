package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/clock"
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

// Check returns why the change could not be reviewed, or nil: a repo on another host, or one that the host does not show. It
// changes nothing.
func (r *PullRequests) Check(ctx context.Context, d *Desired) error {
	repo, err := r.Host.Repo(d.Destination.Repo)
	if err != nil {
		return err
	}
	k := d.key()
	_, err = repo.Find(ctx, hosting.Query{Branch: branchName(r.BranchPrefix, k), Target: k.branch, Marker: k.marker()})
	return err
}

// publish brings the pull request to the proposal, opening one where there is none to adopt, and waits for its merge as far
// as that is asked for. head is what was pushed, and promised how the host was asked to merge it before: what people asked it
// themselves stays. With an error there is the pull request as far as it got, or nil.
func (r *PullRequests) publish(ctx context.Context, t *topic, found *hosting.PullRequest, p hosting.Proposal, head string,
	promised hosting.MergeMethod,
) (*hosting.PullRequest, error) {
	pr, err := t.openOrEdit(ctx, found, p)
	if err != nil {
		return pr, err
	}
	pr.HeadCommit = head
	if r.AutoMerge != "" || promised != "" && pr.AutoMerge == promised {
		merging, err := t.repo.MergeWhenReady(ctx, *pr, r.AutoMerge)
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

// openOrEdit edits the open pull request that is ours, or opens one.
func (t *topic) openOrEdit(ctx context.Context, found *hosting.PullRequest, p hosting.Proposal) (*hosting.PullRequest, error) {
	if found != nil && found.State == hosting.Open {
		edited, err := t.repo.Edit(ctx, *found, p)
		if err != nil || edited.State == hosting.Open {
			return edited, err
		}
	}
	opened, err := t.repo.Open(ctx, p)
	if !errors.Is(err, hosting.ErrExists) {
		return opened, err
	}
	found, findErr := t.find(ctx)
	switch {
	case findErr != nil:
		return nil, findErr
	case found == nil || found.State != hosting.Open:
		return nil, fmt.Errorf("the open pull request from branch %q is not this rendering's: its description lacks the line that says so. Close it, or choose another delivery.branch_prefix: %w", p.Branch, err)
	}
	return t.repo.Edit(ctx, *found, p)
}

// wait looks at the pull request until it is merged.
func (r *PullRequests) wait(ctx context.Context, repo hosting.Repo, pr *hosting.PullRequest) (*hosting.PullRequest, error) {
	for try := 1; pr.State == hosting.Open; try++ {
		err := r.sleep(ctx, try)
		var now *hosting.PullRequest
		if err == nil {
			now, err = repo.Read(ctx, pr.Number)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return pr, &ReviewError{PullRequest: pr}
		case err != nil:
			return pr, err
		}
		pr = now
	}
	if pr.State == hosting.Closed {
		return pr, &ReviewError{PullRequest: pr, Closed: true}
	}
	return pr, nil
}

// proposal returns the pull request for a commit of this message.
func (r *PullRequests) proposal(t *topic, message, text string, promoted bool) hosting.Proposal {
	title, _, _ := strings.Cut(strings.TrimSpace(printable.Text(message)), "\n")
	p := hosting.Proposal{
		Branch: t.at.Branch, Target: t.target, Title: title, Body: body(text, t.key.marker(), t.repo.MaxBody()),
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
	const cut = "\n\n… (cut)"
	room := most - len(marker) - len("\n\n\n")
	if n := characters(text); n > room {
		runes := []rune(text)
		for n > room-len(cut) {
			n -= characters(string(runes[len(runes)-1]))
			runes = runes[:len(runes)-1]
		}
		text = string(runes) + cut
	}
	return text + "\n\n" + marker + "\n"
}

// characters are those of a text as hosts count them at most.
func characters(s string) int { return len(utf16.Encode([]rune(s))) }
