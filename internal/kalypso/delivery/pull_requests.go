package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pause"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// PullRequests are how people get to review a change before it is on the branch: by a pull request on a host.
type PullRequests struct {
	Host         hosting.Host
	BranchPrefix string
	Labels       []string
	Reviewers    []string
	Draft        bool
	AutoMerge    hosting.MergeMethod // "": people merge
	// Reopen has what people closed proposed again.
	Reopen bool
	// Wait has a delivery end when the pull request is merged.
	Wait bool
	// Overwrite lets what others pushed to our branch go, where there is no state that shows it at plan.
	Overwrite bool
	// Pause passes the time before the pull request is looked at again, the first of which is 1; nil: a second, which
	// doubles up to half a minute.
	Pause func(ctx context.Context, try int) error
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

func (r *PullRequests) pause(ctx context.Context, try int) error {
	if r.Pause != nil {
		return r.Pause(ctx, try)
	}
	return pause.For(ctx, min(time.Second<<min(try-1, 5), 30*time.Second))
}

// CheckReviewers returns whom of the reviewers the host can't ask, or nil. It asks nobody.
func (r *PullRequests) CheckReviewers(o *Order) error {
	repo, err := r.Host.Repo(o.Place.Repo)
	if err != nil {
		return err
	}
	return repo.CheckReviewers(r.Reviewers)
}

// Check returns why the order could not be reviewed, or nil: a repo on another host, or one that the host does not show. It
// changes nothing.
func (r *PullRequests) Check(ctx context.Context, o *Order) error {
	repo, err := r.Host.Repo(o.Place.Repo)
	if err != nil {
		return err
	}
	_, err = repo.Find(ctx, hosting.Query{Branch: branchName(r.BranchPrefix, o.key()), Target: o.Place.Branch, Marker: o.key().marker()})
	return err
}

// publish brings the pull request to the proposal, opening one where there is none to adopt, and waits for its merge as far
// as that is asked for. head is what was pushed, and promised how the host was asked to merge it before: what people asked it
// themselves stays. With an error there is the pull request as far as it got, or nil.
func (r *PullRequests) publish(ctx context.Context, repo hosting.Repo, found *hosting.PullRequest, p hosting.Proposal, marker, head string, promised hosting.MergeMethod) (*hosting.PullRequest, error) {
	pr, err := r.put(ctx, repo, found, p, marker)
	if err != nil {
		return pr, err
	}
	pr.HeadCommit = head
	if r.AutoMerge != "" || promised != "" && pr.AutoMerge == promised {
		merging, err := repo.MergeWhenReady(ctx, *pr, r.AutoMerge)
		if err != nil {
			return pr, err
		}
		pr = merging
	}
	if r.Wait {
		return r.wait(ctx, repo, pr)
	}
	return pr, nil
}

// put edits the open pull request that is ours, or opens one.
func (r *PullRequests) put(ctx context.Context, repo hosting.Repo, found *hosting.PullRequest, p hosting.Proposal, marker string) (*hosting.PullRequest, error) {
	if found != nil && found.State == hosting.Open {
		edited, err := repo.Edit(ctx, *found, p)
		if err != nil || edited.State == hosting.Open {
			return edited, err
		}
	}
	opened, err := repo.Open(ctx, p)
	if !errors.Is(err, hosting.ErrExists) {
		return opened, err
	}
	found, findErr := repo.Find(ctx, hosting.Query{Branch: p.Branch, Target: p.Target, Marker: marker})
	switch {
	case findErr != nil:
		return nil, findErr
	case found == nil || found.State != hosting.Open:
		return nil, fmt.Errorf("the open pull request from branch %q is not this rendering's: its description lacks the line that says so. Close it, or choose another delivery.branch_prefix: %w", p.Branch, err)
	}
	return repo.Edit(ctx, *found, p)
}

// wait looks at the pull request until it is merged.
func (r *PullRequests) wait(ctx context.Context, repo hosting.Repo, pr *hosting.PullRequest) (*hosting.PullRequest, error) {
	for try := 1; pr.State == hosting.Open; try++ {
		err := r.pause(ctx, try)
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

// proposal is the pull request for a commit of this message.
func (r *PullRequests) proposal(repo hosting.Repo, branch, target, message, text, marker string, promoted bool) hosting.Proposal {
	title, _, _ := strings.Cut(strings.TrimSpace(printable.Text(message)), "\n")
	p := hosting.Proposal{
		Branch: branch, Target: target, Title: title, Body: body(text, marker, repo.MaxBody()),
		Labels: r.Labels, Reviewers: r.Reviewers, Draft: r.Draft,
	}
	switch {
	case promoted:
		p.Labels = append(without(r.Labels, []string{PromotedLabel}), PromotedLabel)
	case len(without([]string{PromotedLabel}, r.Labels)) > 0:
		p.Unlabels = []string{PromotedLabel}
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
