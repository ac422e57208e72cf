package githubfake

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

func (a *api) listIssues(w http.ResponseWriter, req *http.Request) {
	r, _ := a.opened(w, req, hostfake.Read)
	if r == nil {
		return
	}
	query := req.URL.Query()
	if query.Get("state") != "all" || query.Get("sort") != "created" || query.Get("direction") != "desc" {
		fail(w, http.StatusNotImplemented, "The fake lists all issues, newest first")
		return
	}
	all := []object{}
	for _, i := range r.Issues.Newest() {
		all = append(all, showIssue(i))
	}
	for _, p := range r.All { // GitHub lists them too
		all = append(all, object{"number": p.Number, "title": p.Title, "body": p.Body, "state": p.shownState(),
			"pull_request": object{"url": r.URL}})
	}
	reply(w, http.StatusOK, page(w, req, all))
}

func (a *api) openIssue(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		Title, Body string
		Labels      []string
	}
	r, _ := a.opened(w, req, hostfake.Write)
	if r == nil || !decode(w, req, &asked) {
		return
	}
	if asked.Title == "" || len([]rune(asked.Title)) > maxTitle || len([]rune(asked.Body)) > maxBody {
		invalid(w, "Issue", "title", "is missing or too long")
		return
	}
	r.numbers++
	reply(w, http.StatusCreated, showIssue(r.Issues.Add(r.numbers, asked.Title, asked.Body, asked.Labels)))
}

// issueEdit is the body of a request about an issue.
type issueEdit struct{ Title, Body, State *string }

// onIssue routes requests for one issue.
func (a *api) onIssue(pattern string, need hostfake.Access, change func(i *hostfake.Issue, asked issueEdit)) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
		var asked issueEdit
		r, _ := a.opened(w, req, need)
		if r == nil || need == hostfake.Write && !decode(w, req, &asked) {
			return
		}
		number, _ := strconv.Atoi(req.PathValue("number"))
		i, found := r.Issues.Update(number, func(i *hostfake.Issue) { change(i, asked) })
		switch {
		case !found:
			fail(w, http.StatusNotFound, "Not Found")
		case req.Method == http.MethodPost:
			reply(w, http.StatusCreated, object{"id": len(i.Comments), "body": asked.Body})
		default:
			reply(w, http.StatusOK, showIssue(i))
		}
	})
}

func editIssue(i *hostfake.Issue, asked issueEdit) {
	if asked.Title != nil {
		i.Title = *asked.Title
	}
	if asked.Body != nil {
		i.Body = *asked.Body
	}
	if asked.State != nil {
		i.Closed = *asked.State == "closed"
	}
}

func showIssue(i hostfake.Issue) object {
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
	a.onIssue("GET "+at+"/{number}", hostfake.Read, func(*hostfake.Issue, issueEdit) {})
	a.onIssue("PATCH "+at+"/{number}", hostfake.Write, editIssue)
	a.onIssue("POST "+at+"/{number}/comments", hostfake.Write, func(i *hostfake.Issue, asked issueEdit) {
		i.Comments = append(i.Comments, *asked.Body)
	})
	labels := restPrefix + "/repos/{owner}/{name}/issues/{number}/labels"
	a.mux.HandleFunc("POST "+labels, a.numbered(hostfake.Write, func(p *pull, w http.ResponseWriter, req *http.Request) {
		var asked []string
		if !decode(w, req, &asked) {
			return
		}
		for _, label := range asked {
			p.AddLabel(label)
		}
		reply(w, http.StatusOK, p.show()["labels"])
	}))
	a.mux.HandleFunc("DELETE "+labels+"/{label}",
		a.numbered(hostfake.Write, func(p *pull, w http.ResponseWriter, req *http.Request) {
			label := req.PathValue("label")
			if !hostfake.ContainsFold(p.Labels, label) {
				fail(w, http.StatusNotFound, "Label does not exist")
				return
			}
			p.Labels = slices.DeleteFunc(p.Labels, func(l string) bool { return strings.EqualFold(l, label) })
			reply(w, http.StatusOK, p.show()["labels"])
		}))
	a.mux.HandleFunc("GET "+restPrefix+"/repos/{owner}/{name}/issues/{number}/timeline",
		a.numbered(hostfake.Read, (*pull).timeline))
}

// timeline lists the review requests.
func (p *pull) timeline(w http.ResponseWriter, req *http.Request) {
	all := []object{}
	for _, name := range p.Asked {
		event := object{"event": "review_requested"}
		if _, team, ok := strings.Cut(name, "/"); ok {
			event["requested_team"] = object{"slug": team}
		} else {
			event["requested_reviewer"] = object{"login": name}
		}
		all = append(all, event, object{"event": "labeled"})
	}
	reply(w, http.StatusOK, page(w, req, all))
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
		if user == p.Author {
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
	for _, user := range asked.Reviewers {
		p.Ask(user)
	}
	owner, _, _ := strings.Cut(p.repo.Name, "/")
	for _, team := range asked.TeamReviewers {
		p.Asked = append(p.Asked, owner+"/"+team)
		if !slices.Contains(p.Teams, team) {
			p.Teams = append(p.Teams, team)
		}
	}
	reply(w, http.StatusCreated, p.show())
}
