package githubfake

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// routeIssues routes the issues, and what pull requests share with them: labels.
func (s *Server) routeIssues() {
	onRepo(s, "GET /issues", (*Repo).listIssues)
	onRepo(s, "POST /issues", (*Repo).openIssue)
	for _, pattern := range []string{"GET /issues/{number}", "PATCH /issues/{number}", "POST /issues/{number}/comments"} {
		onRepo(s, pattern, (*Repo).changeIssue)
	}
	onPull(s, "GET /issues/{number}/timeline", (*pull).timeline)
	onPull(s, "POST /issues/{number}/labels", func(p *pull, _ *call, asked []string) answer {
		for _, label := range asked {
			p.AddLabel(label)
		}
		return ok(p.show()["labels"])
	})
	onPull(s, "DELETE /issues/{number}/labels/{label}", func(p *pull, c *call, _ none) answer {
		label := c.PathValue("label")
		if !hostfake.ContainsFold(p.Labels, label) {
			return fail(http.StatusNotFound, "Label does not exist")
		}
		p.Labels = slices.DeleteFunc(p.Labels, func(l string) bool { return strings.EqualFold(l, label) })
		return ok(p.show()["labels"])
	})
}

func (r *Repo) listIssues(c *call, _ none) answer {
	query := c.URL.Query()
	if query.Get("state") != "all" || query.Get("sort") != "created" || query.Get("direction") != "desc" {
		return fail(http.StatusNotImplemented, "The fake lists all issues, newest first")
	}
	creator := query.Get("creator")
	all := lists.Map(r.Issues.Newest(creator), showIssue)
	for _, p := range r.All { // GitHub lists them too
		if creator != "" && !strings.EqualFold(p.Author, creator) {
			continue
		}
		all = append(all, object{"number": p.Number, "title": p.Title, "body": p.Body, "state": p.shownState(),
			"user":         object{"login": p.Author},
			"pull_request": object{"url": r.URL}})
	}
	return ok(page(c, all))
}

// issueOpen is the body of a request for a new issue.
type issueOpen struct {
	Title, Body string
	Labels      []string
}

func (r *Repo) openIssue(c *call, asked issueOpen) answer {
	if asked.Title == "" || len([]rune(asked.Title)) > maxTitle || len([]rune(asked.Body)) > maxBody {
		return invalid("Issue", "title", "is missing or too long")
	}
	return created(showIssue(r.addIssue(c.By.Login, asked)))
}

func (r *Repo) addIssue(author string, asked issueOpen) hostfake.Issue {
	r.numbers++
	return r.Issues.Add(hostfake.Issue{
		Number: r.numbers, Title: asked.Title, Body: asked.Body, Labels: asked.Labels, Author: author,
	})
}

// OpenIssue opens an issue as a user, and returns its number.
func (r *Repo) OpenIssue(_ testing.TB, author, title, body string) (number int) {
	r.Server.Locked(func() { number = r.addIssue(author, issueOpen{Title: title, Body: body}).Number })
	return number
}

// issueEdit is the body of a request about an issue.
type issueEdit struct{ Title, Body, State *string }

func (r *Repo) changeIssue(c *call, asked issueEdit) answer {
	number, _ := strconv.Atoi(c.PathValue("number"))
	comments := c.Method == http.MethodPost
	i, found := r.Issues.Update(number, func(i *hostfake.Issue) {
		switch {
		case comments:
			i.Comments = append(i.Comments, *asked.Body)
			return
		case asked.State != nil:
			i.Closed = *asked.State == "closed"
		}
		hostfake.Set(&i.Title, asked.Title)
		hostfake.Set(&i.Body, asked.Body)
	})
	switch {
	case !found:
		return fail(http.StatusNotFound, "Not Found")
	case comments:
		return created(object{"id": len(i.Comments), "body": asked.Body})
	}
	return ok(showIssue(i))
}

func showIssue(i hostfake.Issue) object {
	state := "open"
	if i.Closed {
		state = "closed"
	}
	return object{"number": i.Number, "title": i.Title, "body": i.Body, "labels": named("name", i.Labels),
		"user":  object{"login": i.Author},
		"state": state}
}

// timeline lists the review requests.
func (p *pull) timeline(c *call, _ none) answer {
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
	return ok(page(c, all))
}

// reviewRequest is the body of a request for reviews.
type reviewRequest struct {
	Reviewers     []string
	TeamReviewers []string `json:"team_reviewers"`
}

func (p *pull) requestReviewers(_ *call, asked reviewRequest) answer {
	const only = "Reviews may only be requested from collaborators. One or more of the %s you specified is not a " +
		"collaborator of the %s repository."
	for _, user := range asked.Reviewers {
		if user == p.Author {
			return fail(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		}
		if slices.Contains(p.repo.Outsiders, user) {
			return fail(http.StatusUnprocessableEntity, fmt.Sprintf(only, "users or teams", p.repo.Name))
		}
	}
	for _, team := range asked.TeamReviewers {
		if !slices.Contains(p.repo.teams, team) {
			return fail(http.StatusUnprocessableEntity, fmt.Sprintf(only, "teams", p.repo.Name))
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
	return created(p.show())
}
