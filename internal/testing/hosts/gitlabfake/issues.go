package gitlabfake

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// Issues returns all issues of the project, oldest first.
func (p *Project) Issues() []hostfake.Issue {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	return p.issues.Copy()
}

// ChangeIssue changes an issue as a person does.
func (p *Project) ChangeIssue(t testing.TB, number int, change func(*hostfake.Issue)) {
	t.Helper()
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	found := p.issues.Find(number)
	if found == nil {
		t.Fatalf("there is no issue %d", number)
	}
	change(found)
}

// serveIssues answers requests about the issues of the project. A quick action in a text is a failure of the test.
func (p *Project) serveIssues(w http.ResponseWriter, c *call) {
	if len(c.path) == 3 {
		p.serveAllIssues(w, c)
		return
	}
	number, _ := strconv.Atoi(c.path[3])
	found := p.issues.Find(number)
	switch {
	case found == nil:
		fail(w, http.StatusNotFound, "404 Issue Not Found")
	case len(c.path) > 4:
		var asked struct{ Body string }
		c.decode(&asked)
		found.Comments = append(found.Comments, p.withoutActions(asked.Body))
		reply(w, http.StatusCreated, object{"id": len(found.Comments), "body": asked.Body})
	case c.Method == http.MethodPut:
		var asked struct {
			Title, Description *string
			StateEvent         string `json:"state_event"`
		}
		c.decode(&asked)
		if asked.Title != nil {
			found.Title = *asked.Title
		}
		if asked.Description != nil {
			found.Body = p.withoutActions(*asked.Description)
		}
		if asked.StateEvent != "" {
			found.Closed = asked.StateEvent == "close"
		}
		reply(w, http.StatusOK, p.showIssue(found))
	default:
		reply(w, http.StatusOK, p.showIssue(found))
	}
}

func (p *Project) serveAllIssues(w http.ResponseWriter, c *call) {
	if c.Method == http.MethodPost {
		var asked struct {
			Title, Description string
			Labels             any
		}
		c.decode(&asked)
		var labels []string
		switch given := asked.Labels.(type) {
		case string:
			labels = splitLabels(given)
		case []any:
			for _, one := range given {
				name, _ := one.(string)
				labels = append(labels, splitLabels(name)...)
			}
		}
		opened := p.issues.Open(len(p.issues.All)+1, asked.Title, p.withoutActions(asked.Description), labels)
		reply(w, http.StatusCreated, p.showIssue(opened))
		return
	}
	all := []object{}
	for _, one := range p.issues.Newest() {
		all = append(all, p.showIssue(one))
	}
	list(w, c, all)
}

// splitLabels returns the labels of a text: GitLab divides it at commas.
func splitLabels(text string) []string { return strings.Split(text, ",") }

func (p *Project) withoutActions(text string) string {
	left, commands := QuickActions(text)
	if len(commands) > 0 {
		p.server.t.Errorf("GitLab ran the quick actions %q", commands)
	}
	return left
}

func (p *Project) showIssue(i *hostfake.Issue) object {
	return object{
		"id": 9000 + i.Number, "iid": i.Number, "project_id": p.id, "title": i.Title, "description": i.Body,
		"state":   map[bool]string{false: "opened", true: "closed"}[i.Closed],
		"labels":  append([]string{}, i.Labels...),
		"web_url": p.server.URL + "/" + p.Path + "/-/issues/" + strconv.Itoa(i.Number),
	}
}
