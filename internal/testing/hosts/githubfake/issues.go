package githubfake

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// Issues returns all issues of the repo, oldest first.
func (r *Repo) Issues() []hostfake.Issue {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.issues.Copy()
}

// ChangeIssue changes an issue as a person does.
func (r *Repo) ChangeIssue(t testing.TB, number int, change func(*hostfake.Issue)) {
	t.Helper()
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	found := r.issues.Find(number)
	if found == nil {
		t.Fatalf("there is no issue %d", number)
	}
	change(found)
}

func (a *api) listIssues(w http.ResponseWriter, req *http.Request) {
	r, _ := a.opened(w, req, Read)
	if r == nil {
		return
	}
	query := req.URL.Query()
	if query.Get("state") != "all" || query.Get("sort") != "created" || query.Get("direction") != "desc" {
		fail(w, http.StatusNotImplemented, "The fake lists all issues, newest first")
		return
	}
	all := []object{}
	for _, i := range r.issues.Newest() {
		all = append(all, showIssue(i))
	}
	for _, p := range r.pulls.all { // GitHub lists them too
		all = append(all, object{"number": p.number, "title": p.title, "body": p.body, "state": p.state,
			"pull_request": object{"url": r.URL}})
	}
	reply(w, http.StatusOK, page(w, req, all))
}

func (a *api) openIssue(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		Title, Body string
		Labels      []string
	}
	r, _ := a.opened(w, req, Write)
	if r == nil || !decode(w, req, &asked) {
		return
	}
	if asked.Title == "" || len([]rune(asked.Title)) > maxTitle || len([]rune(asked.Body)) > maxBody {
		invalid(w, "Issue", "title", "is missing or too long")
		return
	}
	r.pulls.numbers++
	reply(w, http.StatusCreated, showIssue(r.issues.Open(r.pulls.numbers, asked.Title, asked.Body, asked.Labels)))
}

// onIssue routes requests for one issue.
func (a *api) onIssue(
	pattern string, need Access, do func(w http.ResponseWriter, req *http.Request, r *Repo, i *hostfake.Issue),
) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
		r, _ := a.opened(w, req, need)
		if r == nil {
			return
		}
		number, _ := strconv.Atoi(req.PathValue("number"))
		if i := r.issues.Find(number); i != nil {
			do(w, req, r, i)
			return
		}
		fail(w, http.StatusNotFound, "Not Found")
	})
}

func editIssue(w http.ResponseWriter, req *http.Request, _ *Repo, i *hostfake.Issue) {
	var asked struct{ Title, Body, State *string }
	if !decode(w, req, &asked) {
		return
	}
	if asked.Title != nil {
		i.Title = *asked.Title
	}
	if asked.Body != nil {
		i.Body = *asked.Body
	}
	if asked.State != nil {
		i.Closed = *asked.State == "closed"
	}
	reply(w, http.StatusOK, showIssue(i))
}

func commentIssue(w http.ResponseWriter, req *http.Request, _ *Repo, i *hostfake.Issue) {
	var asked struct{ Body string }
	if decode(w, req, &asked) {
		i.Comments = append(i.Comments, asked.Body)
		reply(w, http.StatusCreated, object{"id": len(i.Comments), "body": asked.Body})
	}
}

func showIssue(i *hostfake.Issue) object {
	labels := []object{}
	for _, name := range i.Labels {
		labels = append(labels, object{"name": name})
	}
	return object{"number": i.Number, "title": i.Title, "body": i.Body, "labels": labels,
		"state": map[bool]string{false: "open", true: "closed"}[i.Closed]}
}

// routeIssues routes the issues, and what pull requests share with them: labels.
func (a *api) routeIssues() {
	at := restPrefix + "/repos/{owner}/{name}/issues"
	a.mux.HandleFunc("GET "+at, a.listIssues)
	a.mux.HandleFunc("POST "+at, a.openIssue)
	a.onIssue("GET "+at+"/{number}", Read, func(w http.ResponseWriter, _ *http.Request, _ *Repo, i *hostfake.Issue) {
		reply(w, http.StatusOK, showIssue(i))
	})
	a.onIssue("PATCH "+at+"/{number}", Write, editIssue)
	a.onIssue("POST "+at+"/{number}/comments", Write, commentIssue)
	labels := restPrefix + "/repos/{owner}/{name}/issues/{number}/labels"
	a.mux.HandleFunc("POST "+labels, a.numbered(Write, func(p *pull, w http.ResponseWriter, req *http.Request) {
		var asked []string
		if !decode(w, req, &asked) {
			return
		}
		for _, label := range asked {
			if !containsFold(p.labels, label) {
				p.labels = append(p.labels, label)
			}
		}
		reply(w, http.StatusOK, p.show()["labels"])
	}))
	a.mux.HandleFunc("DELETE "+labels+"/{label}",
		a.numbered(Write, func(p *pull, w http.ResponseWriter, req *http.Request) {
			label := req.PathValue("label")
			if !containsFold(p.labels, label) {
				fail(w, http.StatusNotFound, "Label does not exist")
				return
			}
			p.labels = slices.DeleteFunc(p.labels, func(l string) bool { return strings.EqualFold(l, label) })
			reply(w, http.StatusOK, p.show()["labels"])
		}))
	a.mux.HandleFunc("GET "+restPrefix+"/repos/{owner}/{name}/issues/{number}/timeline",
		a.numbered(Read, (*pull).timeline))
}

// timeline lists the review requests.
func (p *pull) timeline(w http.ResponseWriter, req *http.Request) {
	all := []object{}
	for _, name := range p.asked {
		event := object{"event": "review_requested"}
		if team, ok := strings.CutPrefix(name, "team:"); ok {
			event["requested_team"] = object{"slug": team}
		} else {
			event["requested_reviewer"] = object{"login": name}
		}
		all = append(all, event, object{"event": "labeled"})
	}
	reply(w, http.StatusOK, page(w, req, all))
}

func containsFold(all []string, s string) bool {
	return slices.ContainsFunc(all, func(o string) bool { return strings.EqualFold(o, s) })
}

func (p *pull) requestReviewers(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		Reviewers     []string
		TeamReviewers []string `json:"team_reviewers"`
	}
	if !decode(w, req, &asked) {
		return
	}
	for _, user := range asked.Reviewers {
		if user == p.author {
			fail(w, http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
			return
		}
		if slices.Contains(p.repo.outsiders, user) {
			fail(w, http.StatusUnprocessableEntity,
				"Reviews may only be requested from collaborators. "+
					"One or more of the users or teams you specified is not a collaborator of the "+p.repo.Name+" repository.")
			return
		}
	}
	for _, team := range asked.TeamReviewers {
		if !slices.Contains(p.repo.teams, team) {
			fail(w, http.StatusUnprocessableEntity,
				"Reviews may only be requested from collaborators. "+
					"One or more of the teams you specified is not a collaborator of the "+p.repo.Name+" repository.")
			return
		}
	}
	for _, into := range []struct {
		list  *[]string
		names []string
		kind  string
	}{{&p.reviewers, asked.Reviewers, ""}, {&p.teams, asked.TeamReviewers, "team:"}} {
		for _, name := range into.names {
			p.asked = append(p.asked, into.kind+name)
			if !slices.Contains(*into.list, name) {
				*into.list = append(*into.list, name)
			}
		}
	}
	reply(w, http.StatusCreated, p.show())
}
