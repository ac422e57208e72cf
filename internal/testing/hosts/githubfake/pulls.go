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

func (a *api) routePulls() {
	a.mux.HandleFunc("GET "+restPrefix+"/repos/{owner}/{name}/pulls", a.listPulls)
	a.mux.HandleFunc("POST "+restPrefix+"/repos/{owner}/{name}/pulls", a.openPull)
	a.onPull("GET", "", hostfake.Read, func(p *pull, w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, p.show())
	})
	a.onPull("PATCH", "", hostfake.Write, (*pull).edit)
	a.onPull("PUT", "/merge", hostfake.Write, (*pull).acceptMerge)
	a.onPull("POST", "/requested_reviewers", hostfake.Write, (*pull).requestReviewers)
	a.onPull("GET", "/reviews", hostfake.Read, func(p *pull, w http.ResponseWriter, req *http.Request) {
		all := []object{}
		for _, user := range p.Approvals {
			all = append(all, object{"user": object{"login": user}, "state": "APPROVED"})
		}
		reply(w, http.StatusOK, page(w, req, all))
	})
}

// pullHandler answers a request for a pull request.
type pullHandler func(p *pull, w http.ResponseWriter, req *http.Request)

// onPull routes requests for one pull request.
func (a *api) onPull(method, path string, need hostfake.Access, do pullHandler) {
	a.mux.HandleFunc(method+" "+restPrefix+"/repos/{owner}/{name}/pulls/{number}"+path, a.numbered(need, do))
}

// numbered finds the pull request of a number.
func (a *api) numbered(need hostfake.Access, do pullHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r, _ := a.opened(w, req, need)
		if r == nil {
			return
		}
		r.sync()
		number, _ := strconv.Atoi(req.PathValue("number"))
		p, found := r.Find(number)
		if !found {
			fail(w, http.StatusNotFound, "Not Found")
			return
		}
		do(p, w, req)
	}
}

func (a *api) listPulls(w http.ResponseWriter, req *http.Request) {
	r, _ := a.opened(w, req, hostfake.Read)
	if r == nil {
		return
	}
	r.sync()
	query := req.URL.Query()
	if cmp.Or(query.Get("sort"), "created") != "created" || cmp.Or(query.Get("direction"), "desc") != "desc" {
		fail(w, http.StatusNotImplemented, "The fake lists pull requests newest first")
		return
	}
	state := cmp.Or(query.Get("state"), "open")
	owner, _, _ := strings.Cut(r.Name, "/")
	headOwner, headBranch, _ := strings.Cut(query.Get("head"), ":")
	var found []*pull
	for _, p := range slices.Backward(r.All) {
		if (state == "all" || p.shownState() == state) &&
			(query.Get("head") == "" || strings.EqualFold(owner, headOwner) && headBranch == p.Head) &&
			(query.Get("base") == "" || query.Get("base") == p.Base) {
			found = append(found, p)
		}
	}
	all := []object{}
	for _, p := range page(w, req, found) {
		short := p.show()
		delete(short, "merged") // the list has only merged_at
		all = append(all, short)
	}
	reply(w, http.StatusOK, all)
}

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
	r, t := a.opened(w, req, hostfake.Write)
	var asked pullRequestBody
	if r == nil || !decode(w, req, &asked) {
		return
	}
	if asked.Draft && r.noDrafts {
		fail(w, http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
		return
	}
	p, refused := r.open(t.Login, value(asked.Head), value(asked.Base), value(asked.Title), value(asked.Body),
		asked.Draft)
	if refused != nil {
		problem, _ := refused.Message.(object)
		fail(w, refused.Status, "Validation Failed", problem)
		return
	}
	reply(w, http.StatusCreated, p.show())
}

// open opens a pull request, or returns GitHub's error.
func (r *Repo) open(author, head, base, title, body string, draft bool) (*pull, *hostfake.Refusal) {
	r.sync()
	owner, _, _ := strings.Cut(r.Name, "/")
	branch := strings.TrimPrefix(head, owner+":")
	headCommit, baseCommit := r.Git.Head(branch), r.Git.Head(base)
	_, isOpen := r.IsOpen(branch, base)
	wrong := func(code, field string) object {
		return object{"resource": "PullRequest", "code": code, "field": field}
	}
	custom := func(message string) object {
		return object{"resource": "PullRequest", "code": "custom", "message": message}
	}
	var problem object
	switch {
	case title == "":
		problem = wrong("missing_field", "title")
	case len([]rune(title)) > maxTitle:
		problem = custom(fmt.Sprintf("title is too long (maximum is %d characters)", maxTitle))
	case len([]rune(body)) > maxBody:
		problem = custom(fmt.Sprintf("body is too long (maximum is %d characters)", maxBody))
	case headCommit == "":
		problem = wrong("invalid", "head")
	case baseCommit == "":
		problem = wrong("invalid", "base")
	case isOpen:
		problem = custom("A pull request already exists for " + owner + ":" + branch + ".")
	case r.Git.Contains(baseCommit, headCommit):
		problem = custom("No commits between " + base + " and " + branch)
	}
	if problem != nil {
		return nil, &hostfake.Refusal{Status: http.StatusUnprocessableEntity, Message: problem}
	}
	r.numbers++
	now := r.Server.Now()
	p := &pull{hostfake.PullRequest{
		Number: r.numbers, Title: title, Body: body, Head: branch, Base: base, Draft: draft, State: hostfake.Open,
		Author: author, Created: now, Updated: now,
	}, r}
	p.moveTo(headCommit, baseCommit)
	r.All = append(r.All, p)
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
	case value(asked.State) == "open" && p.State == hostfake.Merged:
		invalid(w, "PullRequest", "state", "state cannot be changed. The pull request is merged.")
		return
	case value(asked.State) == "open" && p.State == hostfake.Closed:
		if err := p.Reopen(); err != nil {
			invalid(w, "PullRequest", "state", err.Error())
			return
		}
	case value(asked.State) == "closed" && p.State == hostfake.Open:
		p.End(hostfake.Closed, p.repo.Server.Now())
	}
	for text, given := range map[*string]*string{&p.Title: asked.Title, &p.Body: asked.Body, &p.Base: asked.Base} {
		if given != nil {
			*text = *given
		}
	}
	p.Updated = p.repo.Server.Now()
	reply(w, http.StatusOK, p.show())
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

func (p *pull) nodeID() string { return fmt.Sprintf("PR_%s#%d", p.repo.Name, p.Number) }
