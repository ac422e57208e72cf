package githubfake

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The maximum lengths of a title and a description, in characters.
const (
	maxTitle = 256
	maxBody  = 65536
)

type pull struct {
	repo                     *Repo
	number                   int
	title, body              string
	head, base               string // branches
	headCommit, baseCommit   string
	state                    string // open, closed
	merged, draft            bool
	mergeCommit              string
	author                   string
	labels, reviewers, teams []string
	reviewed                 []string // users
	asked                    []string // all reviewers who were ever requested: "user", "team:slug"
	autoMerge, autoMergeBy   string   // method, and login
	queuedBy                 string   // login; "": it is in no merge queue
	created, updated, closed time.Time
}

func (a *api) routePulls() {
	a.mux.HandleFunc("GET "+restPrefix+"/repos/{owner}/{name}/pulls", a.listPulls)
	a.mux.HandleFunc("POST "+restPrefix+"/repos/{owner}/{name}/pulls", a.openPull)
	a.onPull("GET", "", Read, func(p *pull, w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, p.show())
	})
	a.onPull("PATCH", "", Write, (*pull).edit)
	a.onPull("PUT", "/merge", Write, (*pull).acceptMerge)
	a.onPull("POST", "/requested_reviewers", Write, (*pull).requestReviewers)
	a.onPull("GET", "/reviews", Read, func(p *pull, w http.ResponseWriter, req *http.Request) {
		all := []object{}
		for _, user := range p.reviewed {
			all = append(all, object{"user": object{"login": user}, "state": "APPROVED"})
		}
		reply(w, http.StatusOK, page(w, req, all))
	})
}

// pullHandler answers a request for a pull request.
type pullHandler func(p *pull, w http.ResponseWriter, req *http.Request)

// onPull routes requests for one pull request.
func (a *api) onPull(method, path string, need Access, do pullHandler) {
	a.mux.HandleFunc(method+" "+restPrefix+"/repos/{owner}/{name}/pulls/{number}"+path, a.numbered(need, do))
}

// numbered finds the pull request of a number.
func (a *api) numbered(need Access, do pullHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r, _ := a.opened(w, req, need)
		if r == nil {
			return
		}
		r.pulls.sync()
		number, _ := strconv.Atoi(req.PathValue("number"))
		p := r.pulls.find(number)
		if p == nil {
			fail(w, http.StatusNotFound, "Not Found")
			return
		}
		do(p, w, req)
	}
}

func (a *api) listPulls(w http.ResponseWriter, req *http.Request) {
	r, _ := a.opened(w, req, Read)
	if r == nil {
		return
	}
	r.pulls.sync()
	query := req.URL.Query()
	state := cmp.Or(query.Get("state"), "open")
	owner, _, _ := strings.Cut(r.Name, "/")
	var found []*pull
	for _, p := range r.pulls.all {
		head := query.Get("head")
		if (state == "all" || p.state == state) &&
			(head == "" || strings.EqualFold(owner, before(head)) && after(head) == p.head) &&
			(query.Get("base") == "" || query.Get("base") == p.base) {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b *pull) int {
		if query.Get("sort") == "updated" {
			return a.updated.Compare(b.updated)
		}
		return cmp.Compare(a.number, b.number)
	})
	if cmp.Or(query.Get("direction"), map[bool]string{true: "desc",
		false: "asc"}[cmp.Or(query.Get("sort"), "created") == "created"]) == "desc" {
		slices.Reverse(found)
	}
	all := []object{}
	for _, p := range page(w, req, found) {
		short := p.show()
		delete(short, "merged") // the list has only merged_at
		all = append(all, short)
	}
	reply(w, http.StatusOK, all)
}

func before(head string) string { b, _, _ := strings.Cut(head, ":"); return b }
func after(head string) string  { _, a, _ := strings.Cut(head, ":"); return a }

// page returns one page of a list, and links to the next one.
func page[T any](w http.ResponseWriter, req *http.Request, all []T) []T {
	query := req.URL.Query()
	size, _ := strconv.Atoi(query.Get("per_page"))
	number, _ := strconv.Atoi(query.Get("page"))
	if size < 1 || size > 100 {
		size = min(max(size, 30), 100)
	}
	number = max(number, 1)
	from, to := min((number-1)*size, len(all)), min(number*size, len(all))
	if to < len(all) {
		query.Set("page", strconv.Itoa(number+1))
		next := url.URL{Scheme: "http", Host: req.Host, Path: req.URL.Path, RawQuery: query.Encode()}
		w.Header().Set("Link", "<"+next.String()+`>; rel="next"`)
	}
	return all[from:to]
}

type pullRequestBody struct {
	Title, Body, Head, Base, State *string
	Draft                          bool
}

func (a *api) openPull(w http.ResponseWriter, req *http.Request) {
	r, t := a.opened(w, req, Write)
	var asked pullRequestBody
	if r == nil || !decode(w, req, &asked) {
		return
	}
	if asked.Draft && r.noDrafts {
		fail(w, http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
		return
	}
	p, problem := r.pulls.open(t.login, value(asked.Title), value(asked.Body), value(asked.Head), value(asked.Base),
		asked.Draft)
	if problem != nil {
		fail(w, http.StatusUnprocessableEntity, "Validation Failed", problem)
		return
	}
	reply(w, http.StatusCreated, p.show())
}

// open opens a pull request, or returns GitHub's error.
func (ps *pulls) open(author, title, body, head, base string, draft bool) (*pull, object) {
	r := ps.repo
	ps.sync()
	owner, _, _ := strings.Cut(r.Name, "/")
	branch := strings.TrimPrefix(head, owner+":")
	headCommit, baseCommit := r.git.Head(branch), r.git.Head(base)
	custom := func(message string) object {
		return object{"resource": "PullRequest", "code": "custom", "message": message}
	}
	switch {
	case title == "":
		return nil, object{"resource": "PullRequest", "code": "missing_field", "field": "title"}
	case len([]rune(title)) > maxTitle:
		return nil, custom(fmt.Sprintf("title is too long (maximum is %d characters)", maxTitle))
	case len([]rune(body)) > maxBody:
		return nil, custom(fmt.Sprintf("body is too long (maximum is %d characters)", maxBody))
	case headCommit == "":
		return nil, object{"resource": "PullRequest", "code": "invalid", "field": "head"}
	case baseCommit == "":
		return nil, object{"resource": "PullRequest", "code": "invalid", "field": "base"}
	case slices.ContainsFunc(ps.all, func(p *pull) bool {
		return p.state == "open" && p.head == branch &&
			p.base == base
	}):
		return nil, custom("A pull request already exists for " + owner + ":" + branch + ".")
	case r.git.Contains(baseCommit, headCommit):
		return nil, custom("No commits between " + base + " and " + branch)
	}
	ps.numbers++
	now := r.server.now()
	p := &pull{
		repo: r, number: ps.numbers, title: title, body: body, head: branch, base: base, draft: draft, state: "open",
		author: author, created: now, updated: now,
	}
	p.moveTo(headCommit, baseCommit)
	ps.all = append(ps.all, p)
	return p, nil
}

func (p *pull) edit(w http.ResponseWriter, req *http.Request) {
	var asked pullRequestBody
	if !decode(w, req, &asked) {
		return
	}
	switch {
	case len([]rune(value(asked.Title))) > maxTitle:
		invalid(w, "PullRequest", "title", fmt.Sprintf("title is too long (maximum is %d characters)", maxTitle))
		return
	case len([]rune(value(asked.Body))) > maxBody:
		invalid(w, "PullRequest", "body", fmt.Sprintf("body is too long (maximum is %d characters)", maxBody))
		return
	case value(asked.State) == "open" && p.merged:
		invalid(w, "PullRequest", "state", "state cannot be changed. The pull request is merged.")
		return
	case value(asked.State) == "open" && p.state == "closed":
		if problem := p.reopen(); problem != "" {
			invalid(w, "PullRequest", "state", problem)
			return
		}
	case value(asked.State) == "closed" && p.state == "open":
		p.close()
	}
	if asked.Title != nil {
		p.title = *asked.Title
	}
	if asked.Body != nil {
		p.body = *asked.Body
	}
	if asked.Base != nil {
		p.base = *asked.Base
	}
	p.updated = p.repo.server.now()
	reply(w, http.StatusOK, p.show())
}

// reopen reopens a closed pull request, or returns the reason why not.
func (p *pull) reopen() string {
	head, base := p.repo.git.Head(p.head), p.repo.git.Head(p.base)
	switch {
	case head == "":
		return "state cannot be changed. The " + p.head + " branch has been deleted."
	case slices.ContainsFunc(p.repo.pulls.all, func(o *pull) bool {
		return o.state == "open" && o.head == p.head &&
			o.base == p.base
	}):
		return "state cannot be changed. There is already an open pull request from " + p.head + " to " + p.base + "."
	case !p.repo.git.Contains(head, p.headCommit):
		return "state cannot be changed. The " + p.head + " branch was force-pushed or recreated."
	case p.repo.git.Contains(base, head):
		return "state cannot be changed. There are no new commits on the " + p.head + " branch."
	}
	p.state, p.closed = "open", time.Time{}
	p.moveTo(head, base)
	return ""
}

// show returns a pull request in the API's format.
func (p *pull) show() object {
	named := func(key string, names []string) []object {
		all := []object{}
		for _, n := range names {
			all = append(all, object{key: n})
		}
		return all
	}
	when := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t.UTC().Format(time.RFC3339)
	}
	owner, name, _ := strings.Cut(p.repo.Name, "/")
	repo := object{"name": name, "full_name": p.repo.Name, "owner": object{"login": owner}}
	o := object{
		"number": p.number, "node_id": p.nodeID(), "html_url": fmt.Sprintf("%s/pull/%d", p.repo.URL, p.number),
		"title": p.title, "body": p.body, "state": p.state, "draft": p.draft, "merged": p.merged,
		"user":   object{"login": p.author},
		"head":   object{"ref": p.head, "sha": p.headCommit, "label": owner + ":" + p.head, "repo": repo},
		"base":   object{"ref": p.base, "sha": p.baseCommit, "label": owner + ":" + p.base, "repo": repo},
		"labels": named("name", p.labels), "requested_reviewers": named("login", p.reviewers),
		"requested_teams": named("slug", p.teams),
		"created_at":      when(p.created), "updated_at": when(p.updated), "closed_at": when(p.closed), "merged_at": nil,
		"merge_commit_sha": p.mergeCommit, "auto_merge": nil,
	}
	if p.merged {
		o["merged_at"] = when(p.closed)
	} else {
		// While the pull request is open, GitHub shows a commit of its own that tests the merge.
		o["merge_commit_sha"] = strings.Repeat("7e57", 10)
	}
	if p.autoMerge != "" {
		o["auto_merge"] = object{"merge_method": p.autoMerge}
	}
	return o
}

func (p *pull) nodeID() string { return fmt.Sprintf("PR_%s#%d", p.repo.Name, p.number) }
