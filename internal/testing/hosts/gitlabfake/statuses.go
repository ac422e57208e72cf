package gitlabfake

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// routeStatuses routes requests about the statuses of a commit, which are the jobs of an external pipeline.
func (s *Server) routeStatuses() {
	onProject(s, "GET /repository/commits/{sha}/statuses", (*Project).listStatuses)
	onProject(s, "POST /statuses/{sha}", (*Project).createStatus)
}

func (p *Project) listStatuses(c *call, _ none) answer {
	sha, query := c.PathValue("sha"), c.URL.Query()
	if p.Git.Commit(sha) == "" {
		return fail(http.StatusNotFound, "404 Commit Not Found")
	}
	all := p.StatusesOf(sha)
	if query.Get("all") != "true" {
		all = p.LatestOf(sha)
	}
	if query.Get("sort") == "desc" {
		slices.Reverse(all)
	}
	if name := query.Get("name"); name != "" {
		all = slices.DeleteFunc(all, func(s *hostfake.Status) bool { return s.Context != name })
	}
	return list(c, lists.Map(all, p.showStatus))
}

type statusRequest struct {
	State, Name, Description string
	TargetURL                string `json:"target_url"`
}

func (p *Project) createStatus(c *call, asked statusRequest) answer {
	sha := c.PathValue("sha")
	switch {
	case p.Git.Commit(sha) == "":
		return fail(http.StatusNotFound, "404 Commit Not Found")
	case !p.Git.IsOnBranch(sha):
		return fail(http.StatusNotFound, "404 References for commit Not Found")
	}
	s, refused := p.post(hostfake.Status{
		Commit: sha, Context: asked.Name, State: asked.State, Description: asked.Description, TargetURL: asked.TargetURL,
		Login: c.By.Login,
	})
	if refused.Status != 0 {
		return refused
	}
	return created(p.showStatus(s))
}

// post sets a status. A pending or running one of the same name and user is updated with the texts that are not empty,
// if that is possible from its state. Unsure: that empty texts change nothing.
func (p *Project) post(wanted hostfake.Status) (*hostfake.Status, answer) {
	var s *hostfake.Status
	for _, o := range p.StatusesOf(wanted.Commit) {
		if o.Context == wanted.Context && o.Login == wanted.Login && (o.State == "pending" || o.State == "running") {
			s = o
		}
	}
	switch {
	case s == nil:
		s = p.AddStatus(wanted)
	case wanted.State == "pending":
		return nil, fail(http.StatusBadRequest, `Cannot transition status via :enqueue from :`+s.State+
			` (Reason(s): Status cannot transition via "enqueue")`)
	}
	s.State = wanted.State
	if s.State != "pending" {
		s.Finished = p.server.Now()
	}
	s.Description, s.TargetURL = cmp.Or(wanted.Description, s.Description), cmp.Or(wanted.TargetURL, s.TargetURL)
	p.sync()
	return s, answer{}
}

func (p *Project) showStatus(s *hostfake.Status) object {
	return object{
		"id": s.ID, "sha": s.Commit, "ref": "main", "status": s.State, "name": s.Context,
		"description": orNull(s.Description), "target_url": orNull(s.TargetURL), "created_at": when(s.Created),
		"started_at": nil, "finished_at": when(s.Finished), "allow_failure": false, "coverage": nil, "pipeline_id": 1,
		"author": p.server.user(s.Login),
	}
}
