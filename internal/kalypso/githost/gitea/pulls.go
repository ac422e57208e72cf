package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// titles marks drafts as Gitea's default settings expect it.
var titles = githost.DraftTitles{Prefix: "WIP: ", Marks: regexp.MustCompile(`^(?i:WIP:|\[WIP\])\s*`)}

// pull is a pull request in an answer.
type pull struct {
	Number         int
	Title, Body    string
	State          string
	Draft, Merged  bool
	HTMLURL        string `json:"html_url"`
	MergeCommitSHA string `json:"merge_commit_sha"` // null before the merge
	Head, Base     branch
	Labels         []label
	Reviewers      []user `json:"requested_reviewers"`
	Teams          []team `json:"requested_reviewers_teams"` // not in lists
}

// branch is a branch of a pull request.
type branch struct {
	Label  string // name, which stays if the branch is deleted
	SHA    string
	RepoID int64 `json:"repo_id"`
}

// The pages of pull requests that are read: the open ones of a branch, and the newest closed ones.
const (
	openPages   = 20
	closedPages = 4
)

// Find lists the open pull requests to the target, or the newest closed ones that our user opened. Gitea can't list the
// pull requests of a single branch.
func (r *pullRequests) Find(ctx context.Context, q githost.Query) (*githost.PullRequest, error) {
	l := list{path: "/pulls", pages: openPages, query: url.Values{"state": {"open"}, "base_branch": {q.Target}}}
	if !q.Open {
		login, err := r.client.login(ctx)
		if err != nil {
			return nil, err
		}
		l.pages = closedPages
		l.query.Set("state", "closed")
		l.query.Set("poster", login)
	}
	found, err := r.find(ctx, l, q)
	switch {
	case err != nil || found == nil:
		return nil, err
	case q.Open:
		return r.Read(ctx, found.Number)
	}
	return r.convert(*found), nil
}

// find returns the first pull request of a list that matches the query, or nil. Pull requests from forks do not match.
// While the repo has no commit, Gitea returns no list.
func (r *pullRequests) find(ctx context.Context, l list, q githost.Query) (*pull, error) {
	found, err := r.search(ctx, l, q)
	if !errors.Is(err, githost.ErrNotVisible) {
		return found, err
	}
	switch s, hidden := r.settings(ctx); {
	case hidden != nil:
		return nil, err
	case s.Empty:
		return nil, nil //nolint:nilnil // nil means none
	}
	return r.search(ctx, l, q) // the repo got its first commit in the meantime
}

func (r *pullRequests) search(ctx context.Context, l list, q githost.Query) (found *pull, err error) {
	_, err = each(ctx, r.repo, l, func(p pull) bool {
		if p.Head.RepoID != p.Base.RepoID || p.Base.Label != q.Target || q.Branch != "" && p.Head.Label != q.Branch ||
			q.Marker != "" && !githost.HasMarker(p.Body, q.Marker) {
			return false
		}
		found = &p
		return true
	})
	return found, err
}

// Read implements [githost.PullRequestCalls].
func (r *pullRequests) Read(ctx context.Context, number int) (*githost.PullRequest, error) {
	p, err := r.read(ctx, number)
	if err != nil {
		return nil, err
	}
	return r.complete(ctx, p)
}

func (r *pullRequests) read(ctx context.Context, number int) (pull, error) {
	return r.one(ctx, http.MethodGet, pullPath(number), nil)
}

// one sends a request that is answered with a pull request.
func (r *pullRequests) one(ctx context.Context, method, path string, body any) (p pull, err error) {
	_, err = r.call(ctx, method, path, body, &p)
	return p, err
}

// complete converts an answer about a single pull request, and reads what the answer lacks. For an open pull request,
// this is its auto-merge. For a closed or merged one, this is its last head: only lists contain it, while the single
// answer contains the current head of the branch.
func (r *pullRequests) complete(ctx context.Context, p pull) (*githost.PullRequest, error) {
	one := r.convert(p)
	var err error
	if one.State == githost.Open {
		one.AutoMerge, err = r.scheduled(ctx, p.Number)
		return one, err
	}
	one.HeadCommit = "" // unknown if many pull requests were closed later
	_, err = each(ctx, r.repo, list{
		path: "/pulls", pages: closedPages,
		query: url.Values{"state": {"closed"}, "base_branch": {p.Base.Label}, "sort": {"recentclose"}},
	}, func(listed pull) bool {
		if listed.Number == p.Number {
			one.HeadCommit = listed.Head.SHA
		}
		return listed.Number == p.Number
	})
	return one, err
}

func pullPath(number int) string { return fmt.Sprintf("/pulls/%d", number) }

// Open implements [githost.PullRequestCalls].
func (r *pullRequests) Open(ctx context.Context, p githost.PullRequestContent) (*githost.PullRequest, error) {
	opened, err := r.one(ctx, http.MethodPost, "/pulls", map[string]any{
		"title": titles.Stored(p.Title, p.Draft), "body": p.Body, "head": p.Branch, "base": p.Target,
	})
	if err != nil {
		return nil, r.as(ctx, githost.ErrBranchNotFound, err)
	}
	return r.checkDraft(r.convert(opened), p)
}

// Edit implements [githost.PullRequestCalls].
func (r *pullRequests) Edit(
	ctx context.Context, now githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest, error) {
	edited, err := r.one(ctx, http.MethodPatch, pullPath(now.Number),
		map[string]any{"title": titles.Stored(p.Title, p.Draft), "body": p.Body})
	if err != nil {
		return nil, err
	}
	one := r.convert(edited)
	one.AutoMerge = now.AutoMerge
	if one.State != githost.Open {
		return r.complete(ctx, edited)
	}
	return r.checkDraft(one, p)
}

// checkDraft returns an error if the server is configured with other prefixes for drafts.
func (r *pullRequests) checkDraft(
	now *githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest, error) {
	if now.Draft == p.Draft {
		return now, nil
	}
	return now, r.server.Rejected(r.traits.Op("set the draft of", now.Number), githost.FieldDraft,
		fmt.Errorf("the server does not recognize drafts by the prefix %q of their titles", titles.Prefix))
}

// Close implements [githost.PullRequestCalls].
func (r *pullRequests) Close(ctx context.Context, number int) (*githost.PullRequest, error) {
	closed, err := r.one(ctx, http.MethodPatch, pullPath(number), map[string]any{"state": "closed"})
	switch {
	case githost.StatusOf(err) == http.StatusPreconditionFailed: // it is merged
		return r.Read(ctx, number)
	case err != nil:
		return nil, err
	}
	return r.complete(ctx, closed)
}

// convert converts a pull request from a list or a single answer.
func (r *pullRequests) convert(p pull) *githost.PullRequest {
	c := &githost.PullRequest{
		Number: p.Number, URL: printable.Line(p.HTMLURL), State: githost.Open, Title: titles.WithoutMark(p.Title, p.Draft),
		Body: p.Body, Branch: p.Head.Label, Target: p.Base.Label, HeadCommit: p.Head.SHA, Draft: p.Draft,
	}
	switch {
	case p.Merged:
		c.State, c.MergeCommit = githost.Merged, p.MergeCommitSHA
	case p.State == "closed":
		c.State = githost.Closed
	}
	c.Labels = lists.Map(p.Labels, func(l label) string { return l.Name })
	c.Reviewers = lists.Map(p.Reviewers, func(u user) string { return u.Login })
	for _, t := range p.Teams {
		c.Reviewers = append(c.Reviewers, r.owner+"/"+t.Name)
	}
	return c
}
