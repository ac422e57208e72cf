package gitlabfake

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// serveStatuses answers requests about the statuses of a commit, which are the jobs of an external pipeline.
func (p *Project) serveStatuses(w http.ResponseWriter, c *call) {
	sha := c.path[3]
	if c.Method == http.MethodGet {
		sha = c.path[4]
	}
	if p.Git.Commit(sha) == "" {
		fail(w, http.StatusNotFound, "404 Commit Not Found")
		return
	}
	if c.Method == http.MethodPost {
		p.createStatus(w, c, sha)
		return
	}
	query := c.URL.Query()
	all := p.StatusesOf(sha)
	if query.Get("all") != "true" {
		all = p.LatestOf(sha)
	}
	if query.Get("sort") == "desc" {
		slices.Reverse(all)
	}
	found := []object{}
	for _, s := range all {
		if name := query.Get("name"); name == "" || name == s.Context {
			found = append(found, p.showStatus(s))
		}
	}
	list(w, c, found)
}

func (p *Project) createStatus(w http.ResponseWriter, c *call, sha string) {
	var asked struct {
		State, Name, Description string
		TargetURL                string `json:"target_url"`
	}
	c.decode(&asked)
	if !p.Git.IsOnBranch(sha) {
		fail(w, http.StatusNotFound, "404 References for commit Not Found")
		return
	}
	if len([]rune(asked.Description)) > 255 || len([]rune(asked.TargetURL)) > 255 {
		fail(w, http.StatusBadRequest, object{"description": []string{"is too long (maximum is 255 characters)"}})
		return
	}
	s, refused := p.post(hostfake.Status{
		Commit: sha, Context: asked.Name, State: asked.State, Description: asked.Description, TargetURL: asked.TargetURL,
		Login: c.by.Login,
	})
	if refused != nil {
		fail(w, refused.Status, refused.Message)
		return
	}
	reply(w, http.StatusCreated, p.showStatus(s))
}

// post sets a status. A pending or running one of the same name and user is updated with the texts that are not empty,
// if that is possible from its state. Unsure: that empty texts change nothing.
func (p *Project) post(wanted hostfake.Status) (*hostfake.Status, *hostfake.Refusal) {
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
		return nil, &hostfake.Refusal{Status: http.StatusBadRequest, Message: `Cannot transition status via :enqueue ` +
			`from :` + s.State + ` (Reason(s): Status cannot transition via "enqueue")`}
	}
	if s.State = wanted.State; s.State != "pending" {
		s.Finished = p.server.Now()
	}
	s.Description, s.TargetURL = cmp.Or(wanted.Description, s.Description), cmp.Or(wanted.TargetURL, s.TargetURL)
	p.sync()
	return s, nil
}

func (p *Project) showStatus(s *hostfake.Status) object {
	return object{
		"id": s.ID, "sha": s.Commit, "ref": "main", "status": s.State, "name": s.Context,
		"description": orNull(s.Description), "target_url": orNull(s.TargetURL), "created_at": when(s.Created),
		"started_at": nil, "finished_at": when(s.Finished), "allow_failure": false, "coverage": nil, "pipeline_id": 1,
		"author": p.server.user(s.Login),
	}
}

// jobState returns GitLab's state for one of ours. GitLab's own states stay.
func jobState(state string) string {
	if own := map[string]string{"failure": "failed", "error": "canceled"}[state]; own != "" {
		return own
	}
	return state
}
