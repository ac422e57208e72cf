package github

import (
	"context"
	"net/url"
	"strings"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Find lists the pull requests from our branch to the target: the open ones, or the newest closed ones.
func (r *pullRequests) Find(ctx context.Context, q githost.Query) (*githost.PullRequest, error) {
	options := &github.PullRequestListOptions{State: "closed", Base: q.Target, Sort: "created", Direction: "desc"}
	if q.Open {
		options.State = "open"
	}
	if q.Branch != "" {
		options.Head = r.owner + ":" + q.Branch
	}
	var found *githost.PullRequest
	_, err := pages(1, func(page *github.ListOptions) (int, *github.Response, error) {
		options.ListOptions = *page
		list, resp, err := r.client.api.PullRequests.List(r.pulls(ctx), r.owner, r.name, options)
		for _, p := range list {
			owner, _, labelled := strings.Cut(p.GetHead().GetLabel(), ":")
			fork := labelled && !strings.EqualFold(owner, r.owner)
			one := r.convert(p)
			if !fork && (q.Branch == "" || one.Branch == q.Branch) && (q.Marker == "" || githost.HasMarker(one.Body, q.Marker)) {
				found = one
				return 0, resp, nil
			}
		}
		return len(list), resp, err
	})
	return found, err
}

func (r *pullRequests) Read(ctx context.Context, number int) (*githost.PullRequest, error) {
	return r.answer(r.client.api.PullRequests.Get(r.pulls(ctx), r.owner, r.name, number))
}

func (r *pullRequests) Open(ctx context.Context, p githost.PullRequestContent) (*githost.PullRequest, error) {
	return r.answer(r.client.api.PullRequests.Create(r.pulls(ctx), r.owner, r.name, &github.NewPullRequest{
		Title: &p.Title, Body: &p.Body, Head: &p.Branch, Base: &p.Target, Draft: &p.Draft,
	}))
}

func (r *pullRequests) Edit(
	ctx context.Context, now githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	if now.Title != p.Title || now.Body != p.Body {
		edited, err := r.answer(r.client.api.PullRequests.Edit(ctx, r.owner, r.name, now.Number,
			&github.PullRequest{Title: &p.Title, Body: &p.Body}))
		if err != nil {
			return nil, err
		}
		now = *edited
	}
	if now.Draft != p.Draft {
		if err := r.setDraft(ctx, now, p.Draft); err != nil {
			return &now, err
		}
		now.Draft = p.Draft
	}
	return &now, nil
}

// AddLabels implements [githost.MetadataCalls].
func (r *pullRequests) AddLabels(ctx context.Context, number int, names []string) error {
	_, _, err := r.client.api.Issues.AddLabelsToIssue(r.pulls(ctx), r.owner, r.name, number, names)
	return err
}

// RemoveLabel implements [githost.MetadataCalls].
func (r *pullRequests) RemoveLabel(ctx context.Context, number int, name string) error {
	_, err := r.client.api.Issues.RemoveLabelForIssue(r.pulls(ctx), r.owner, r.name, number, url.PathEscape(name))
	if githost.Says(err, saysNoLabel) {
		return nil // already removed
	}
	return err
}

func (r *pullRequests) Close(ctx context.Context, number int) (*githost.PullRequest, error) {
	closed := "closed"
	return r.answer(r.client.api.PullRequests.Edit(r.pulls(ctx), r.owner, r.name, number,
		&github.PullRequest{State: &closed}))
}

// answer converts the answer to a request for one pull request.
func (r *pullRequests) answer(p *github.PullRequest, _ *github.Response, err error) (*githost.PullRequest, error) {
	if err != nil {
		return nil, err
	}
	return r.convert(p), nil
}

// convert converts a pull request from a list or a single read.
func (r *pullRequests) convert(p *github.PullRequest) *githost.PullRequest {
	c := &githost.PullRequest{
		Number: p.GetNumber(), ID: p.GetNodeID(), URL: printable.Line(p.GetHTMLURL()), State: githost.Open,
		Title: p.GetTitle(), Body: p.GetBody(),
		Branch: p.GetHead().GetRef(), Target: p.GetBase().GetRef(), HeadCommit: p.GetHead().GetSHA(), Draft: p.GetDraft(),
		AutoMerge: githost.MergeMethod(p.GetAutoMerge().GetMergeMethod()),
	}
	switch {
	case p.GetMerged(), p.MergedAt != nil: // in lists, only MergedAt is set
		c.State, c.MergeCommit = githost.Merged, p.GetMergeCommitSHA()
	case p.GetState() == "closed":
		c.State = githost.Closed
	}
	c.Labels = lists.Map(p.Labels, (*github.Label).GetName)
	c.Reviewers = lists.Map(p.RequestedReviewers, (*github.User).GetLogin)
	for _, t := range p.RequestedTeams {
		c.Reviewers = append(c.Reviewers, r.owner+"/"+t.GetSlug())
	}
	return c
}
