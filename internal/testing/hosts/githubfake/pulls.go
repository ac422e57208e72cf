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
	autoMerge                string   // method
	created, updated, closed time.Time
}

func (s *Server) routePulls() {
	s.api.HandleFunc("GET "+restPrefix+"/repos/{owner}/{name}/pulls", s.listPulls)
	s.api.HandleFunc("POST "+restPrefix+"/repos/{owner}/{name}/pulls", s.openPull)
	s.onPull("GET", "", Read, func(w http.ResponseWriter, _ *http.Request, r *Repo,
		p *pull) {
		reply(w, http.StatusOK, s.show(r, p))
	})
	s.onPull("PATCH", "", Write, s.editPull)
	s.onPull("PUT", "/merge", Write, s.mergePull)
	s.onPull("POST", "/requested_reviewers", Write, s.requestReviewers)
	s.onPull("GET", "/reviews", Read, func(w http.ResponseWriter, req *http.Request, _ *Repo, p *pull) {
		all := []object{}
		for _, user := range p.reviewed {
			all = append(all, object{"user": object{"login": user}, "state": "APPROVED"})
		}
		reply(w, http.StatusOK, page(w, req, all))
	})
}

// onPull routes requests for one pull request.
func (s *Server) onPull(method, path string, need Access, do func(http.ResponseWriter, *http.Request, *Repo, *pull)) {
	s.api.HandleFunc(method+" "+restPrefix+"/repos/{owner}/{name}/pulls/{number}"+path, s.numbered(need, do))
}

// numbered finds the pull request of a number.
func (s *Server) numbered(need Access, do func(http.ResponseWriter, *http.Request, *Repo, *pull)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r, _ := s.opened(w, req, need)
		if r == nil {
			return
		}
		r.sync()
		number, _ := strconv.Atoi(req.PathValue("number"))
		p := r.pull(number)
		if p == nil {
			fail(w, http.StatusNotFound, "Not Found")
			return
		}
		do(w, req, r, p)
	}
}

func (s *Server) listPulls(w http.ResponseWriter, req *http.Request) {
	r, _ := s.opened(w, req, Read)
	if r == nil {
		return
	}
	r.sync()
	query := req.URL.Query()
	state := cmp.Or(query.Get("state"), "open")
	owner, _, _ := strings.Cut(r.Name, "/")
	var found []*pull
	for _, p := range r.pulls {
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
		short := s.show(r, p)
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

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (s *Server) openPull(w http.ResponseWriter, req *http.Request) {
	r, t := s.opened(w, req, Write)
	var asked pullRequestBody
	if r == nil || !decode(w, req, &asked) {
		return
	}
	if asked.Draft && r.noDrafts {
		fail(w, http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
		return
	}
	p, problem := r.open(t.login, value(asked.Title), value(asked.Body), value(asked.Head), value(asked.Base), asked.Draft)
	if problem != nil {
		fail(w, http.StatusUnprocessableEntity, "Validation Failed", problem)
		return
	}
	reply(w, http.StatusCreated, s.show(r, p))
}

// open opens a pull request, or returns GitHub's error.
func (r *Repo) open(author, title, body, head, base string, draft bool) (*pull, object) {
	r.sync()
	owner, _, _ := strings.Cut(r.Name, "/")
	branch := strings.TrimPrefix(head, owner+":")
	headCommit, baseCommit := r.rev(branch), r.rev(base)
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
	case slices.ContainsFunc(r.pulls, func(p *pull) bool {
		return p.state == "open" && p.head == branch &&
			p.base == base
	}):
		return nil, custom("A pull request already exists for " + owner + ":" + branch + ".")
	case r.contains(baseCommit, headCommit):
		return nil, custom("No commits between " + base + " and " + branch)
	}
	r.numbers++
	now := r.server.now()
	p := &pull{
		number: r.numbers, title: title, body: body, head: branch, base: base, draft: draft, state: "open",
		author: author, created: now, updated: now,
	}
	r.moveTo(p, headCommit, baseCommit)
	r.pulls = append(r.pulls, p)
	return p, nil
}

func (s *Server) editPull(w http.ResponseWriter, req *http.Request, r *Repo, p *pull) {
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
		if problem := r.reopen(p); problem != "" {
			invalid(w, "PullRequest", "state", problem)
			return
		}
	case value(asked.State) == "closed" && p.state == "open":
		r.close(p)
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
	p.updated = s.now()
	reply(w, http.StatusOK, s.show(r, p))
}

// reopen reopens a closed pull request, or returns the reason why not.
func (r *Repo) reopen(p *pull) string {
	head, base := r.rev(p.head), r.rev(p.base)
	switch {
	case head == "":
		return "state cannot be changed. The " + p.head + " branch has been deleted."
	case slices.ContainsFunc(r.pulls, func(o *pull) bool {
		return o.state == "open" && o.head == p.head &&
			o.base == p.base
	}):
		return "state cannot be changed. There is already an open pull request from " + p.head + " to " + p.base + "."
	case !r.contains(head, p.headCommit):
		return "state cannot be changed. The " + p.head + " branch was force-pushed or recreated."
	case r.contains(base, head):
		return "state cannot be changed. There are no new commits on the " + p.head + " branch."
	}
	p.state, p.closed = "open", time.Time{}
	r.moveTo(p, head, base)
	return ""
}

// show returns a pull request in the API's format.
func (s *Server) show(r *Repo, p *pull) object {
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
	owner, name, _ := strings.Cut(r.Name, "/")
	repo := object{"name": name, "full_name": r.Name, "owner": object{"login": owner}}
	o := object{
		"number": p.number, "node_id": p.nodeID(r), "html_url": fmt.Sprintf("%s/pull/%d", r.URL, p.number),
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

func (p *pull) nodeID(r *Repo) string { return fmt.Sprintf("PR_%s#%d", r.Name, p.number) }
