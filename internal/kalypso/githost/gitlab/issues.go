package gitlab

import (
	"context"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// List implements [githost.Issues].
func (r *issues) List(ctx context.Context) (all []githost.Issue, err error) {
	op := r.traits.IssuesOp("list the issues")
	login, err := r.client.login(ctx)
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	id, err := r.id(ctx)
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	options := &gitlab.ListProjectIssuesOptions{
		AuthorUsername: &login, OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("desc"),
	}
	var unusable error
	_, err = eachPage(githost.IssuesPage, githost.MaxListedIssues, &options.ListOptions,
		func() ([]*gitlab.Issue, *gitlab.Response, error) {
			return r.client.api.Issues.ListProjectIssues(id, options, gitlab.WithContext(ctx))
		}, func(one *gitlab.Issue) (done bool) {
			own := convertIssue(one, login)
			if own.Own {
				unusable = own.Check()
				all = append(all, *own)
			}
			return unusable != nil || len(all) == githost.MaxListedIssues
		})
	if err == nil {
		err = unusable
	}
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	return all, nil
}

// Read implements [githost.Issues].
func (r *issues) Read(ctx context.Context, number int) (*githost.Issue, error) {
	return r.one(ctx, r.traits.IssueOp("read", number), func(project int64) (*gitlab.Issue, *gitlab.Response, error) {
		return r.client.api.Issues.GetIssue(project, int64(number), gitlab.WithContext(ctx))
	})
}

// Open implements [githost.Issues]. GitLab creates labels that the project lacks.
func (r *issues) Open(ctx context.Context, c githost.IssueContent) (*githost.Issue, error) {
	body, labels := escape(c.Body), gitlab.LabelOptions(c.Labels)
	options := &gitlab.CreateIssueOptions{Title: &c.Title, Description: &body}
	if len(labels) > 0 {
		options.Labels = &labels
	}
	return r.one(ctx, r.traits.IssuesOp("open an issue"), func(project int64) (*gitlab.Issue, *gitlab.Response, error) {
		return r.client.api.Issues.CreateIssue(project, options, gitlab.WithContext(httpapi.Once(ctx)))
	})
}

// Edit implements [githost.Issues].
func (r *issues) Edit(ctx context.Context, number int, c githost.IssueContent) (*githost.Issue, error) {
	body, event := escape(c.Body), "reopen"
	if c.Closed {
		event = "close"
	}
	options := &gitlab.UpdateIssueOptions{Title: &c.Title, Description: &body, StateEvent: &event}
	return r.one(ctx, r.traits.IssueOp("edit", number), func(project int64) (*gitlab.Issue, *gitlab.Response, error) {
		return r.client.api.Issues.UpdateIssue(project, int64(number), options, gitlab.WithContext(ctx))
	})
}

// Comment implements [githost.Issues].
func (r *issues) Comment(ctx context.Context, number int, text string) error {
	text = escape(text)
	id, err := r.id(ctx)
	if err == nil {
		_, _, err = r.client.api.Notes.CreateIssueNote(
			id, int64(number), &gitlab.CreateIssueNoteOptions{Body: &text}, gitlab.WithContext(httpapi.Once(ctx)))
	}
	return r.server.Error(r.traits.IssueOp("comment", number), err)
}

// one sends a request about the project that is answered with an issue.
func (r *issues) one(
	ctx context.Context, op string, request func(project int64) (*gitlab.Issue, *gitlab.Response, error),
) (*githost.Issue, error) {
	login, err := r.client.login(ctx)
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	id, err := r.id(ctx)
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	answer, _, err := request(id)
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	converted := convertIssue(answer, login)
	if err := converted.Check(); err != nil {
		return nil, r.server.Error(op, err)
	}
	return converted, nil
}

// convertIssue converts an issue, as an account sees it.
func convertIssue(i *gitlab.Issue, login string) *githost.Issue {
	return &githost.Issue{
		Number: int(i.IID), Title: i.Title, Body: i.Description, Closed: i.State == stateClosed,
		Own: i.Author != nil && strings.EqualFold(i.Author.Username, login),
	}
}
