package gitlab

import (
	"context"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// List implements [githost.Issues].
func (r *issues) List(ctx context.Context) (all []githost.Issue, err error) {
	op := r.traits.IssuesOp("list the issues")
	id, err := r.id(ctx)
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	options := &gitlab.ListProjectIssuesOptions{
		OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("desc"),
		ListOptions: gitlab.ListOptions{PerPage: githost.IssuesPage},
	}
	for range githost.MaxListedIssues / githost.IssuesPage {
		page, resp, err := r.client.api.Issues.ListProjectIssues(id, options, gitlab.WithContext(ctx))
		if err != nil {
			return nil, r.server.Error(op, err)
		}
		for _, one := range page {
			all = append(all, *issueOf(one))
		}
		if options.Page = resp.NextPage; resp.NextPage == 0 {
			break
		}
	}
	return all, nil
}

// Read implements [githost.Issues].
func (r *issues) Read(ctx context.Context, number int) (*githost.Issue, error) {
	return r.on(ctx, r.traits.IssueOp("read", number), func(project int64) (*gitlab.Issue, error) {
		found, _, err := r.client.api.Issues.GetIssue(project, int64(number), gitlab.WithContext(ctx))
		return found, err
	})
}

// Open implements [githost.Issues]. GitLab creates labels that the project lacks.
func (r *issues) Open(ctx context.Context, c githost.IssueContent) (*githost.Issue, error) {
	body, labels := escape(c.Body), gitlab.LabelOptions(c.Labels)
	options := &gitlab.CreateIssueOptions{Title: &c.Title, Description: &body}
	if len(labels) > 0 {
		options.Labels = &labels
	}
	return r.on(ctx, r.traits.IssuesOp("open an issue"), func(project int64) (*gitlab.Issue, error) {
		opened, _, err := r.client.api.Issues.CreateIssue(project, options, gitlab.WithContext(httpapi.Once(ctx)))
		return opened, err
	})
}

// Edit implements [githost.Issues].
func (r *issues) Edit(ctx context.Context, number int, c githost.IssueContent) (*githost.Issue, error) {
	body, event := escape(c.Body), map[bool]string{false: "reopen", true: "close"}[c.Closed]
	return r.on(ctx, r.traits.IssueOp("edit", number), func(project int64) (*gitlab.Issue, error) {
		edited, _, err := r.client.api.Issues.UpdateIssue(project, int64(number),
			&gitlab.UpdateIssueOptions{Title: &c.Title, Description: &body, StateEvent: &event}, gitlab.WithContext(ctx))
		return edited, err
	})
}

// Comment implements [githost.Issues].
func (r *issues) Comment(ctx context.Context, number int, text string) error {
	op := r.traits.IssueOp("comment", number)
	id, err := r.id(ctx)
	if err != nil {
		return r.server.Error(op, err)
	}
	text = escape(text)
	_, _, err = r.client.api.Notes.CreateIssueNote(id, int64(number), &gitlab.CreateIssueNoteOptions{Body: &text},
		gitlab.WithContext(httpapi.Once(ctx)))
	return r.server.Error(op, err)
}

// on runs a request about an issue of the project.
func (r *issues) on(
	ctx context.Context, op string, request func(project int64) (*gitlab.Issue, error),
) (*githost.Issue, error) {
	id, err := r.id(ctx)
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	found, err := request(id)
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	return issueOf(found), nil
}

func issueOf(i *gitlab.Issue) *githost.Issue {
	return &githost.Issue{
		Number: int(i.IID), Title: i.Title, Body: i.Description, Closed: i.State == stateClosed,
	}
}
