package githubfake

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// The maximum lengths of a title and a description, in characters.
const (
	maxTitle = 256
	maxBody  = 65536
)

type pull struct {
	hostfake.PullRequest
	repo *Repo
}

func (s *Server) routePulls() {
	onRepo(s, "GET /pulls", (*Repo).listPulls)
	onRepo(s, "POST /pulls", (*Repo).openPull)
	onPull(s, "GET /pulls/{number}", func(p *pull, _ *call, _ none) answer { return ok(p.show()) })
	onPull(s, "PATCH /pulls/{number}", (*pull).edit)
	onPull(s, "PUT /pulls/{number}/merge", (*pull).acceptMerge)
	onPull(s, "POST /pulls/{number}/requested_reviewers", (*pull).requestReviewers)
	onPull(s, "GET /pulls/{number}/reviews", func(p *pull, c *call, _ none) answer {
		return ok(page(c, lists.Map(p.Approvals, func(user string) object {
			return object{"user": object{"login": user}, "state": "APPROVED"}
		})))
	})
}

func (r *Repo) listPulls(c *call, _ none) answer {
	r.sync()
	query := c.URL.Query()
	if cmp.Or(query.Get("sort"), "created") != "created" || cmp.Or(query.Get("direction"), "desc") != "desc" {
		return fail(http.StatusNotImplemented, "The fake lists pull requests newest first")
	}
	state := strings.TrimPrefix(cmp.Or(query.Get("state"), "open"), "all")
	owner, _, _ := strings.Cut(r.Name, "/")
	headOwner, head, _ := strings.Cut(query.Get("head"), ":")
	var found []*pull
	if headOwner == "" || strings.EqualFold(owner, headOwner) {
		found = r.Matching(state, head, query.Get("base"), (*pull).shownState)
	}
	return ok(lists.Map(page(c, found), func(p *pull) object {
		short := p.show()
		delete(short, "merged") // the list has only merged_at
		return short
	}))
}

// page returns one page of a list, and links to the next one.
func page[T any](c *call, all []T) []T {
	query := c.URL.Query()
	size, _ := strconv.Atoi(query.Get("per_page"))
	number, _ := strconv.Atoi(query.Get("page"))
	size, number = min(cmp.Or(size, 30), 100), max(number, 1)
	from, to := min((number-1)*size, len(all)), min(number*size, len(all))
	if to < len(all) {
		query.Set("page", strconv.Itoa(number+1))
		next := url.URL{Scheme: "http", Host: c.Host, Path: c.URL.Path, RawQuery: query.Encode()}
		c.Answered.Set("Link", "<"+next.String()+`>; rel="next"`)
	}
	return all[from:to]
}

type pullRequestBody struct {
	Title, Body, Head, Base, State *string
	Draft                          bool
}

func (r *Repo) openPull(c *call, asked pullRequestBody) answer {
	if asked.Draft && r.NoDrafts {
		return fail(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	}
	p, refused := r.open(c.By.Login, value(asked.Head), value(asked.Base), value(asked.Title), value(asked.Body))
	if refused.Status != 0 {
		return refused
	}
	p.Draft = asked.Draft
	return created(p.show())
}

// open opens a pull request, or returns GitHub's error.
func (r *Repo) open(author, head, base, title, body string) (*pull, answer) {
	r.sync()
	owner, _, _ := strings.Cut(r.Name, "/")
	branch := strings.TrimPrefix(head, owner+":")
	headCommit, baseCommit := r.Git.Head(branch), r.Git.Head(base)
	_, isOpen := r.IsOpen(branch, base)
	wrong := func(code, field string) answer {
		return fail(http.StatusUnprocessableEntity, "Validation Failed",
			object{"resource": "PullRequest", "code": code, "field": field})
	}
	custom := func(message string) answer { return invalid("PullRequest", "", message) }
	var refused answer
	switch {
	case title == "":
		refused = wrong("missing_field", "title")
	case len([]rune(title)) > maxTitle:
		refused = custom(fmt.Sprintf("title is too long (maximum is %d characters)", maxTitle))
	case len([]rune(body)) > maxBody:
		refused = custom(fmt.Sprintf("body is too long (maximum is %d characters)", maxBody))
	case headCommit == "":
		refused = wrong("invalid", "head")
	case baseCommit == "":
		refused = wrong("invalid", "base")
	case isOpen:
		refused = custom("A pull request already exists for " + owner + ":" + branch + ".")
	case r.Git.Contains(baseCommit, headCommit):
		refused = custom("No commits between " + base + " and " + branch)
	}
	if refused.Status != 0 {
		return nil, refused
	}
	r.numbers++
	now := r.Server.Now()
	p := &pull{hostfake.PullRequest{
		Number: r.numbers, Title: title, Body: body, Head: branch, Base: base, State: hostfake.Open,
		Author: author, Created: now, Updated: now,
	}, r}
	p.moveTo(headCommit, baseCommit)
	r.All = append(r.All, p)
	return p, answer{}
}

func (p *pull) edit(_ *call, asked pullRequestBody) answer {
	switch {
	case len([]rune(value(asked.Title))) > maxTitle:
		return invalid("PullRequest", "title", fmt.Sprintf("title is too long (maximum is %d characters)", maxTitle))
	case len([]rune(value(asked.Body))) > maxBody:
		return invalid("PullRequest", "body", fmt.Sprintf("body is too long (maximum is %d characters)", maxBody))
	case value(asked.State) == "open" && p.State == hostfake.Merged:
		return invalid("PullRequest", "state", "state cannot be changed. The pull request is merged.")
	case value(asked.State) == "open" && p.State == hostfake.Closed:
		if err := p.Reopen(); err != nil {
			return invalid("PullRequest", "state", err.Error())
		}
	case value(asked.State) == "closed" && p.State == hostfake.Open:
		p.End(hostfake.Closed, p.repo.Server.Now())
	}
	hostfake.Set(&p.Title, asked.Title)
	hostfake.Set(&p.Body, asked.Body)
	hostfake.Set(&p.Base, asked.Base)
	p.Updated = p.repo.Server.Now()
	return ok(p.show())
}

// shownState returns the state in the API, which has none for merged ones.
func (p *pull) shownState() string {
	if p.State == hostfake.Merged {
		return hostfake.Closed
	}
	return p.State
}

// show returns a pull request in the API's format.
func (p *pull) show() object {
	when := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t.UTC().Format(time.RFC3339)
	}
	owner, name, _ := strings.Cut(p.repo.Name, "/")
	repo := object{"name": name, "full_name": p.repo.Name, "owner": object{"login": owner}}
	o := object{
		"number": p.Number, "node_id": p.nodeID(), "html_url": fmt.Sprintf("%s/pull/%d", p.repo.URL, p.Number),
		"title": p.Title, "body": p.Body, "state": p.shownState(), "draft": p.Draft, "merged": p.State == hostfake.Merged,
		"user":   object{"login": p.Author},
		"head":   object{"ref": p.Head, "sha": p.HeadCommit, "label": owner + ":" + p.Head, "repo": repo},
		"base":   object{"ref": p.Base, "sha": p.BaseCommit, "label": owner + ":" + p.Base, "repo": repo},
		"labels": named("name", p.Labels), "requested_reviewers": named("login", p.Reviewers),
		"requested_teams": named("slug", p.Teams),
		"created_at":      when(p.Created), "updated_at": when(p.Updated), "closed_at": when(p.Ended), "merged_at": nil,
		"merge_commit_sha": p.MergeCommit, "auto_merge": nil,
	}
	if p.State == hostfake.Merged {
		o["merged_at"] = when(p.Ended)
	} else {
		// While the pull request is open, GitHub shows a commit of its own that tests the merge.
		o["merge_commit_sha"] = strings.Repeat("7e57", 10)
	}
	if p.AutoMerge != "" {
		o["auto_merge"] = object{"merge_method": p.AutoMerge}
	}
	return o
}

// named returns objects that have only a name.
func named(key string, names []string) []object {
	return lists.Map(names, func(name string) object { return object{key: name} })
}

func (p *pull) nodeID() string { return fmt.Sprintf("PR_%s#%d", p.repo.Name, p.Number) }
