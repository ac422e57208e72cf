package githubfake

import (
	"net/http"
	"slices"
	"strings"
)

// routeIssues routes what pull requests share with issues: labels.
func (a *api) routeIssues() {
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
