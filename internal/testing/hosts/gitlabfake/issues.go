package gitlabfake

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// issues answers requests about the issues of a project. A quick action in a text is a failure of the test.
type issues struct{ project *Project }

func (is issues) serve(w http.ResponseWriter, c *call) {
	if len(c.path) == 3 {
		is.serveAll(w, c)
		return
	}
	var asked struct {
		Title, Description, Body *string
		StateEvent               string `json:"state_event"`
	}
	if c.Method != http.MethodGet {
		c.decode(&asked)
	}
	number, _ := strconv.Atoi(c.path[3])
	found, ok := is.project.Issues.Update(number, func(i *hostfake.Issue) {
		if asked.Title != nil {
			i.Title = *asked.Title
		}
		if asked.Description != nil {
			i.Body = is.project.withoutActions(*asked.Description)
		}
		if asked.StateEvent != "" {
			i.Closed = asked.StateEvent == "close"
		}
		if asked.Body != nil {
			i.Comments = append(i.Comments, is.project.withoutActions(*asked.Body))
		}
	})
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "404 Issue Not Found")
	case c.Method == http.MethodPost:
		reply(w, http.StatusCreated, object{"id": len(found.Comments), "body": asked.Body})
	default:
		reply(w, http.StatusOK, is.show(found))
	}
}

func (is issues) serveAll(w http.ResponseWriter, c *call) {
	p := is.project
	if c.Method == http.MethodPost {
		var asked struct{ Title, Description, Labels string }
		c.decode(&asked)
		var labels []string
		if asked.Labels != "" {
			labels = strings.Split(asked.Labels, ",")
		}
		opened := p.Issues.Add(len(p.Issues.All())+1, asked.Title, p.withoutActions(asked.Description), labels)
		reply(w, http.StatusCreated, is.show(opened))
		return
	}
	all := []object{}
	for _, one := range p.Issues.Newest() {
		all = append(all, is.show(one))
	}
	list(w, c, all)
}

func (is issues) show(i hostfake.Issue) object {
	return object{
		"id": 9000 + i.Number, "iid": i.Number, "project_id": is.project.id, "title": i.Title, "description": i.Body,
		"state":   map[bool]string{false: "opened", true: "closed"}[i.Closed],
		"labels":  append([]string{}, i.Labels...),
		"web_url": is.project.server.URL + "/" + is.project.Path + "/-/issues/" + strconv.Itoa(i.Number),
	}
}
