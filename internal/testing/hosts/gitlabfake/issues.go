package gitlabfake

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// routeIssues routes requests about the issues of a project. A quick action in a text is a failure of the test.
func (s *Server) routeIssues() {
	onProject(s, "GET /issues", func(p *Project, c *call, _ none) answer {
		return list(c, lists.Map(p.Issues.Newest(c.URL.Query().Get("author_username")), p.showIssue))
	})
	onProject(s, "POST /issues", func(p *Project, c *call, asked issueOpen) answer {
		asked.Description = p.withoutActions(asked.Description)
		return created(p.showIssue(p.addIssue(c.By.Login, asked)))
	})
	for _, pattern := range []string{"GET /issues/{iid}", "PUT /issues/{iid}", "POST /issues/{iid}/notes"} {
		onProject(s, pattern, (*Project).changeIssue)
	}
}

type issueOpen struct{ Title, Description, Labels string }

func (p *Project) addIssue(author string, asked issueOpen) hostfake.Issue {
	return p.Issues.Add(hostfake.Issue{
		Number: len(p.Issues.All()) + 1, Title: asked.Title, Body: asked.Description, Author: author,
		Labels: strings.FieldsFunc(asked.Labels, func(r rune) bool { return r == ',' }),
	})
}

// OpenIssue opens an issue as a user, and returns its number.
func (p *Project) OpenIssue(_ testing.TB, author, title, body string) (number int) {
	p.server.Locked(func() { number = p.addIssue(author, issueOpen{Title: title, Description: body}).Number })
	return number
}

type issueEdit struct {
	Title, Description, Body *string
	StateEvent               string `json:"state_event"`
}

func (p *Project) changeIssue(c *call, asked issueEdit) answer {
	number, _ := strconv.Atoi(c.PathValue("iid"))
	found, exists := p.Issues.Update(number, func(i *hostfake.Issue) {
		hostfake.Set(&i.Title, asked.Title)
		if asked.Description != nil {
			i.Body = p.withoutActions(*asked.Description)
		}
		if asked.StateEvent != "" {
			i.Closed = asked.StateEvent == "close"
		}
		if asked.Body != nil {
			i.Comments = append(i.Comments, p.withoutActions(*asked.Body))
		}
	})
	switch {
	case !exists:
		return fail(http.StatusNotFound, "404 Issue Not Found")
	case c.Method == http.MethodPost:
		return created(object{"id": len(found.Comments), "body": asked.Body})
	}
	return ok(p.showIssue(found))
}

func (p *Project) showIssue(i hostfake.Issue) object {
	state := "opened"
	if i.Closed {
		state = "closed"
	}
	return object{
		"id": 9000 + i.Number, "iid": i.Number, "project_id": p.id, "title": i.Title, "description": i.Body,
		"state":   state,
		"labels":  append([]string{}, i.Labels...),
		"author":  p.server.user(i.Author),
		"web_url": p.server.URL + "/" + p.Path + "/-/issues/" + strconv.Itoa(i.Number),
	}
}
