package github

import (
	"context"

	"github.com/google/go-github/v53/github"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// List skips the pull requests, which GitHub lists as issues too.
func (r *issues) List(ctx context.Context) (all []githost.Issue, err error) {
	ctx = r.with(ctx, "issues: read")
	options := &github.IssueListByRepoOptions{State: "all", Sort: "created", Direction: "desc"}
	_, err = pages(githost.MaxListedIssues/pageSize, func(page *github.ListOptions) (*github.Response, error) {
		options.ListOptions = *page
		found, resp, err := r.client.api.Issues.ListByRepo(ctx, r.owner, r.name, options)
		for _, one := range found {
			if !one.IsPullRequest() {
				all = append(all, *issueOf(one))
			}
		}
		return resp, err
	})
	return all, r.server.Error(r.traits.IssuesOp("list the issues"), err)
}

func (r *issues) Read(ctx context.Context, number int) (*githost.Issue, error) {
	ctx = r.with(ctx, "issues: read")
	found, _, err := r.client.api.Issues.Get(ctx, r.owner, r.name, number)
	if err != nil {
		return nil, r.server.Error(r.traits.IssueOp("read", number), err)
	}
	return issueOf(found), nil
}

func (r *issues) Open(ctx context.Context, c githost.IssueContent) (*githost.Issue, error) {
	ctx = httpapi.Once(r.with(ctx, "issues: write"))
	request := &github.IssueRequest{Title: &c.Title, Body: &c.Body}
	if len(c.Labels) > 0 {
		request.Labels = &c.Labels
	}
	opened, _, err := r.client.api.Issues.Create(ctx, r.owner, r.name, request)
	if err != nil {
		return nil, r.server.Error(r.traits.IssuesOp("open an issue"), err)
	}
	return issueOf(opened), nil
}

func (r *issues) Edit(ctx context.Context, number int, c githost.IssueContent) (*githost.Issue, error) {
	state := map[bool]string{false: "open", true: "closed"}[c.Closed]
	ctx = r.with(ctx, "issues: write")
	edited, _, err := r.client.api.Issues.Edit(ctx, r.owner, r.name, number,
		&github.IssueRequest{Title: &c.Title, Body: &c.Body, State: &state})
	if err != nil {
		return nil, r.server.Error(r.traits.IssueOp("edit", number), err)
	}
	return issueOf(edited), nil
}

func (r *issues) Comment(ctx context.Context, number int, text string) error {
	ctx = httpapi.Once(r.with(ctx, "issues: write"))
	_, _, err := r.client.api.Issues.CreateComment(ctx, r.owner, r.name, number, &github.IssueComment{Body: &text})
	return r.server.Error(r.traits.IssueOp("comment", number), err)
}

func issueOf(i *github.Issue) *githost.Issue {
	return &githost.Issue{
		Number: i.GetNumber(), Title: i.GetTitle(), Body: i.GetBody(), Closed: i.GetState() == "closed",
	}
}
