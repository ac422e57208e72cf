package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v53/github"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Find lists the pull requests from our branch to the target: all open ones, then the newest closed ones.
func (r *repo) Find(ctx context.Context, q githost.Query) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	states := []string{"open", "closed"}
	if q.Open {
		states = states[:1]
	}
	for _, state := range states {
		options := &github.PullRequestListOptions{
			State: state, Base: q.Target, Sort: "created", Direction: "desc",
			ListOptions: github.ListOptions{PerPage: 100},
		}
		if q.Branch != "" {
			options.Head = r.owner + ":" + q.Branch
		}
		list, _, err := r.client.api.PullRequests.List(ctx, r.owner, r.name, options)
		if err != nil {
			return nil, r.wrapError("find the pull request of branch "+q.Branch+" in "+r.String(), err)
		}
		for _, p := range list {
			fork := p.GetHead().GetLabel() != "" && !strings.HasPrefix(strings.ToLower(p.GetHead().GetLabel()),
				strings.ToLower(r.owner)+":")
			one := r.convert(p)
			if !fork && (q.Branch == "" || one.Branch == q.Branch) && (q.Marker == "" || githost.HasMarker(one.Body, q.Marker)) {
				return one, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // nil means none
}

func (r *repo) Read(ctx context.Context, number int) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	p, _, err := r.client.api.PullRequests.Get(ctx, r.owner, r.name, number)
	if err != nil {
		return nil, r.wrapError(r.op("read", number), err)
	}
	return r.convert(p), nil
}

func (r *repo) op(what string, number int) string {
	return fmt.Sprintf("%s pull request %d of %s", what, number, r)
}

func (r *repo) Open(ctx context.Context, p githost.PullRequestContent) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	opened, _, err := r.client.api.PullRequests.Create(ctx, r.owner, r.name, &github.NewPullRequest{
		Title: &p.Title, Body: &p.Body, Head: &p.Branch, Base: &p.Target, Draft: &p.Draft,
	})
	if err != nil {
		err = r.wrapError(fmt.Sprintf("open a pull request from %s to %s in %s", p.Branch, p.Target, r), err)
		if !errors.Is(err, githost.ErrExists) {
			return nil, err
		}
		if opened = r.findOpened(ctx, p); opened == nil {
			return nil, err
		}
	}
	return r.syncMetadata(ctx, *r.convert(opened), p)
}

// findOpened returns the pull request that an earlier attempt opened but whose answer was lost: its title and body
// equal the proposal's.
func (r *repo) findOpened(ctx context.Context, p githost.PullRequestContent) *github.PullRequest {
	list, _, err := r.client.api.PullRequests.List(ctx, r.owner, r.name, &github.PullRequestListOptions{
		State: "open", Head: r.owner + ":" + p.Branch, Base: p.Target,
	})
	if err != nil || len(list) != 1 || list[0].GetTitle() != p.Title || list[0].GetBody() != p.Body {
		return nil
	}
	return list[0]
}

func (r *repo) Edit(
	ctx context.Context, now githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	if now.Title != p.Title || now.Body != p.Body {
		edited, _, err := r.client.api.PullRequests.Edit(ctx, r.owner, r.name, now.Number,
			&github.PullRequest{Title: &p.Title, Body: &p.Body})
		if err != nil {
			return nil, r.wrapError(r.op("edit", now.Number), err)
		}
		now = *r.convert(edited)
	}
	if now.Draft != p.Draft {
		if err := r.setDraft(ctx, now, p.Draft); err != nil {
			return &now, err
		}
		now.Draft = p.Draft
	}
	return r.syncMetadata(ctx, now, p)
}

// syncMetadata sets labels and reviewers. An error does not stop the rest.
func (r *repo) syncMetadata(
	ctx context.Context, now githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest,
	error) {
	var errs []error
	if add := missingFold(p.Labels, now.Labels); len(add) > 0 {
		_, _, err := r.client.api.Issues.AddLabelsToIssue(ctx, r.owner, r.name, now.Number, add)
		if err == nil {
			now.Labels = append(now.Labels, add...)
		}
		errs = append(errs, about(githost.FieldLabels, r.wrapError(r.op("label", now.Number), err)))
	}
	for _, label := range p.RemoveLabels {
		if len(missingFold([]string{label}, now.Labels)) > 0 {
			continue
		}
		_, err := r.client.api.Issues.RemoveLabelForIssue(ctx, r.owner, r.name, now.Number, url.PathEscape(label))
		err = r.wrapError(r.op("remove label "+label+" from", now.Number), err)
		var e *githost.Error
		if errors.As(err, &e) && strings.Contains(e.Message, saysNoLabel) {
			err = nil // already removed
		}
		if err == nil {
			now.Labels = missingFold(now.Labels, []string{label})
		}
		errs = append(errs, about(githost.FieldLabels, err))
	}
	if ask := missingFold(p.Reviewers, now.Reviewers); len(ask) > 0 {
		err := r.askReviewers(ctx, now.Number, ask)
		if err == nil {
			now.Reviewers = append(now.Reviewers, ask...)
		}
		errs = append(errs, about(githost.FieldReviewers, err))
	}
	return &now, errors.Join(errs...)
}

// CheckLabels implements [githost.Repo].
func (r *repo) CheckLabels([]string) error { return nil }

// missingFold returns the elements of want that are not in have, ignoring case as GitHub does.
func missingFold(want, have []string) []string {
	var missing []string
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(w, h) }) {
			missing = append(missing, w)
		}
	}
	return missing
}

func (r *repo) Close(ctx context.Context, number int) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	closed := "closed"
	p, _, err := r.client.api.PullRequests.Edit(ctx, r.owner, r.name, number, &github.PullRequest{State: &closed})
	if err != nil {
		return nil, r.wrapError(r.op("close", number), err)
	}
	return r.convert(p), nil
}

// convert converts a pull request from a list or a single read.
func (r *repo) convert(p *github.PullRequest) *githost.PullRequest {
	c := &githost.PullRequest{
		Number: p.GetNumber(), ID: p.GetNodeID(), URL: printable.Line(p.GetHTMLURL()), State: githost.Open,
		Title: p.GetTitle(), Body: p.GetBody(),
		Branch: p.GetHead().GetRef(), Target: p.GetBase().GetRef(), HeadCommit: p.GetHead().GetSHA(), Draft: p.GetDraft(),
		AutoMerge: githost.MergeMethod(p.GetAutoMerge().GetMergeMethod()),
	}
	switch {
	case p.GetMerged(), p.MergedAt != nil: // lists only have MergedAt
		c.State, c.MergeCommit = githost.Merged, p.GetMergeCommitSHA()
	case p.GetState() == "closed":
		c.State = githost.Closed
	}
	for _, l := range p.Labels {
		c.Labels = append(c.Labels, l.GetName())
	}
	for _, u := range p.RequestedReviewers {
		c.Reviewers = append(c.Reviewers, u.GetLogin())
	}
	for _, t := range p.RequestedTeams {
		c.Reviewers = append(c.Reviewers, r.owner+"/"+t.GetSlug())
	}
	return c
}
