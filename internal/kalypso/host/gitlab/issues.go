package gitlab

import (
	"context"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// List implements [githost.Issues].
func (r *issues) List(ctx context.Context) (all []githost.Issue, err error) {
	options := &gitlab.ListProjectIssuesOptions{
		OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("desc"),
	}
	_, err = eachPage(githost.IssuesPage, githost.MaxListedIssues, &options.ListOptions,
		func() ([]*gitlab.Issue, *gitlab.Response, error) {
			return inProject(ctx, r.repo, r.client.api.Issues.ListProjectIssues, options)
		}, func(one *gitlab.Issue) (done bool) {
			all = append(all, *convertIssue(one))
			return false
		})
	return all, r.server.Error(r.traits.IssuesOp("list the issues"), err)
}

// Read implements [githost.Issues].
func (r *issues) Read(ctx context.Context, number int) (*githost.Issue, error) {
	read, _, err := inProject(ctx, r.repo, r.client.api.Issues.GetIssue, int64(number))
	return r.answer(r.traits.IssueOp("read", number), read, err)
}

// Open implements [githost.Issues]. GitLab creates labels that the project lacks.
func (r *issues) Open(ctx context.Context, c githost.IssueContent) (*githost.Issue, error) {
	body, labels := escape(c.Body), gitlab.LabelOptions(c.Labels)
	options := &gitlab.CreateIssueOptions{Title: &c.Title, Description: &body}
	if len(labels) > 0 {
		options.Labels = &labels
	}
	opened, _, err := inProject(ctx, r.repo, r.client.api.Issues.CreateIssue, options,
		gitlab.WithContext(httpapi.Once(ctx)))
	return r.answer(r.traits.IssuesOp("open an issue"), opened, err)
}

// Edit implements [githost.Issues].
func (r *issues) Edit(ctx context.Context, number int, c githost.IssueContent) (*githost.Issue, error) {
	body, event := escape(c.Body), map[bool]string{false: "reopen", true: "close"}[c.Closed]
	edited, _, err := onOne(ctx, r.repo, r.client.api.Issues.UpdateIssue, int64(number),
		&gitlab.UpdateIssueOptions{Title: &c.Title, Description: &body, StateEvent: &event})
	return r.answer(r.traits.IssueOp("edit", number), edited, err)
}

// Comment implements [githost.Issues].
func (r *issues) Comment(ctx context.Context, number int, text string) error {
	text = escape(text)
	_, _, err := onOne(ctx, r.repo, r.client.api.Notes.CreateIssueNote, int64(number),
		&gitlab.CreateIssueNoteOptions{Body: &text}, gitlab.WithContext(httpapi.Once(ctx)))
	return r.server.Error(r.traits.IssueOp("comment", number), err)
}

// answer converts an answer about an issue.
func (r *issues) answer(op string, i *gitlab.Issue, err error) (*githost.Issue, error) {
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	return convertIssue(i), nil
}

func convertIssue(i *gitlab.Issue) *githost.Issue {
	return &githost.Issue{
		Number: int(i.IID), Title: i.Title, Body: i.Description, Closed: i.State == stateClosed,
	}
}
