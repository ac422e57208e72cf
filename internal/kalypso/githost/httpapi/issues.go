package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Issues implements [githost.Issues] for hosts whose API has the form of GitHub's.
type Issues struct {
	Traits githost.Traits
	// Call sends a request for a path below the issues of the repo, and decodes its answer, unless into is nil. It returns
	// the headers of the answer, or a *[githost.Error].
	Call func(ctx context.Context, op, method, path string, body, into any) (http.Header, error)
	// Login returns the login of the account that the credential belongs to.
	Login func(ctx context.Context) (string, error)
	// Failed converts an error of Login, AddLabels or an answer to an error about an operation.
	Failed func(op string, err error) error
	// Query asks for pages with the newest issues, open and closed ones. SizeName is the parameter for the number of
	// issues on a page, and Size is that number.
	Query, SizeName string
	Size            int
	// Creator is the parameter for the login of the account that opened the issues.
	Creator string
	// AddLabels adds labels to an open issue. If it is nil, the request that opens an issue contains them.
	AddLabels func(ctx context.Context, number int, names []string) error
}

// issue is an issue in an answer.
type issue struct {
	Number             int
	Title, Body, State string
	User               struct{ Login string }
	OriginalAuthor     string    `json:"original_author"` // on Gitea, if another account migrated the issue
	PullRequest        *struct{} `json:"pull_request"`    // GitHub lists pull requests as issues too
}

// convert converts an issue, as an account sees it.
func (i issue) convert(login string) *githost.Issue {
	return &githost.Issue{
		Number: i.Number, Title: i.Title, Body: i.Body, Closed: i.State == "closed",
		Own: strings.EqualFold(i.User.Login, login) && i.OriginalAuthor == "",
	}
}

// List implements [githost.Issues].
func (i *Issues) List(ctx context.Context) (all []githost.Issue, err error) {
	op := i.Traits.IssuesOp("list the issues")
	login, err := i.login(ctx, op)
	if err != nil {
		return nil, err
	}
	query := i.Query + "&" + url.Values{i.Creator: {login}}.Encode()
	_, err = EachPage(i.Size, githost.MaxListedIssues, func(p Page) (int, bool, error) {
		var found []issue
		header, err := i.Call(ctx, op, http.MethodGet,
			fmt.Sprintf("?%s&%s=%d&page=%d", query, i.SizeName, p.Size, p.Number), nil, &found)
		if err != nil {
			return 0, false, err
		}
		for _, one := range found {
			own := one.convert(login)
			if !own.Own || one.PullRequest != nil {
				continue
			}
			if err := own.Check(); err != nil {
				return 0, false, i.Failed(op, err)
			}
			all = append(all, *own)
			if len(all) == githost.MaxListedIssues {
				return 0, false, nil
			}
		}
		return len(found), header != nil && strings.Contains(header.Get("Link"), `rel="next"`), nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Read implements [githost.Issues].
func (i *Issues) Read(ctx context.Context, number int) (*githost.Issue, error) {
	return i.one(ctx, i.Traits.IssueOp("read", number), http.MethodGet, fmt.Sprintf("/%d", number), nil)
}

// Open implements [githost.Issues].
func (i *Issues) Open(ctx context.Context, c githost.IssueContent) (*githost.Issue, error) {
	fields := map[string]any{"title": c.Title, "body": c.Body}
	if len(c.Labels) > 0 && i.AddLabels == nil {
		fields["labels"] = c.Labels
	}
	op := i.Traits.IssuesOp("open an issue")
	opened, err := i.one(Once(ctx), op, http.MethodPost, "", fields)
	if err == nil && len(c.Labels) > 0 && i.AddLabels != nil {
		err = i.Failed(i.Traits.IssueOp("label", opened.Number), i.AddLabels(ctx, opened.Number, c.Labels))
	}
	return opened, err
}

// Edit implements [githost.Issues].
func (i *Issues) Edit(ctx context.Context, number int, c githost.IssueContent) (*githost.Issue, error) {
	state := "open"
	if c.Closed {
		state = "closed"
	}
	return i.one(ctx, i.Traits.IssueOp("edit", number), http.MethodPatch, fmt.Sprintf("/%d", number),
		map[string]any{"title": c.Title, "body": c.Body, "state": state})
}

// Comment implements [githost.Issues].
func (i *Issues) Comment(ctx context.Context, number int, text string) error {
	_, err := i.Call(Once(ctx), i.Traits.IssueOp("comment", number), http.MethodPost,
		fmt.Sprintf("/%d/comments", number), map[string]any{"body": text}, nil)
	return err
}

func (i *Issues) one(ctx context.Context, op, method, path string, body any) (*githost.Issue, error) {
	login, err := i.login(ctx, op)
	if err != nil {
		return nil, err
	}
	var found issue
	if _, err := i.Call(ctx, op, method, path, body, &found); err != nil {
		return nil, err
	}
	converted := found.convert(login)
	if err := converted.Check(); err != nil {
		return nil, i.Failed(op, err)
	}
	return converted, nil
}

// login returns the login of the account that the credential belongs to, for an operation.
func (i *Issues) login(ctx context.Context, op string) (string, error) {
	login, err := i.Login(ctx)
	return login, i.Failed(op, err)
}
