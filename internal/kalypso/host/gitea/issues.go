package gitea

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

type issue struct {
	Number             int
	Title, Body, State string
}

func (i issue) convert() *githost.Issue {
	return &githost.Issue{Number: i.Number, Title: i.Title, Body: i.Body, Closed: i.State == "closed"}
}

// List implements [githost.Issues]. Gitea lists the newest first.
func (r *issues) List(ctx context.Context) (all []githost.Issue, err error) {
	_, err = each(ctx, r.repo, list{
		op: r.traits.IssuesOp("list the issues"), path: "/issues", pages: githost.MaxListedIssues / pageSize,
		query: url.Values{"state": {"all"}, "type": {"issues"}},
	}, func(i issue, _ time.Time) bool {
		all = append(all, *i.convert())
		return false
	})
	return all, err
}

// Read implements [githost.Issues].
func (r *issues) Read(ctx context.Context, number int) (*githost.Issue, error) {
	return r.on(ctx, r.traits.IssueOp("read", number), http.MethodGet, number, nil)
}

// Open implements [githost.Issues].
func (r *issues) Open(ctx context.Context, c githost.IssueContent) (*githost.Issue, error) {
	var opened issue
	_, err := r.call(httpapi.Once(ctx), r.traits.IssuesOp("open an issue"), http.MethodPost, "/issues",
		map[string]any{"title": c.Title, "body": c.Body}, &opened)
	if err != nil {
		return nil, err
	}
	if len(c.Labels) > 0 {
		err = r.AddLabels(ctx, opened.Number, c.Labels)
	}
	return opened.convert(), err
}

// Edit implements [githost.Issues].
func (r *issues) Edit(ctx context.Context, number int, c githost.IssueContent) (*githost.Issue, error) {
	state := map[bool]string{false: "open", true: "closed"}[c.Closed]
	return r.on(ctx, r.traits.IssueOp("edit", number), http.MethodPatch, number,
		map[string]any{"title": c.Title, "body": c.Body, "state": state})
}

// Comment implements [githost.Issues].
func (r *issues) Comment(ctx context.Context, number int, text string) error {
	_, err := r.call(httpapi.Once(ctx), r.traits.IssueOp("comment", number), http.MethodPost,
		fmt.Sprintf("/issues/%d/comments", number), map[string]any{"body": text}, nil)
	return err
}

func (r *issues) on(ctx context.Context, op, method string, number int, body any) (*githost.Issue, error) {
	var found issue
	if _, err := r.call(ctx, op, method, fmt.Sprintf("/issues/%d", number), body, &found); err != nil {
		return nil, err
	}
	return found.convert(), nil
}
