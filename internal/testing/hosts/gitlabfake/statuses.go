package gitlabfake

import (
	"net/http"
	"slices"
	"time"
)

// status is a job of an external pipeline.
type status struct {
	id                             int
	sha, name, state, text, target string
	author                         string
	created, finished              time.Time
}

// statuses are the statuses of the commits of a project, the oldest first.
type statuses struct {
	project *Project
	all     []*status
}

func (ss *statuses) serve(w http.ResponseWriter, c *call) {
	p := ss.project
	sha := c.path[3]
	if c.Method == http.MethodGet {
		sha = c.path[4]
	}
	if p.git.Commit(sha) == "" {
		fail(w, http.StatusNotFound, "404 Commit Not Found")
		return
	}
	if c.Method == http.MethodPost {
		ss.create(w, c, sha)
		return
	}
	query := c.URL.Query()
	all := ss.of(sha)
	if query.Get("all") != "true" {
		all = ss.latest(sha)
	}
	if query.Get("sort") == "desc" {
		slices.Reverse(all)
	}
	found := []object{}
	for _, s := range all {
		if name := query.Get("name"); name == "" || name == s.name {
			found = append(found, ss.show(s))
		}
	}
	list(w, c, found)
}

func (ss *statuses) create(w http.ResponseWriter, c *call, sha string) {
	p := ss.project
	var asked struct {
		State, Name, Description string
		TargetURL                string `json:"target_url"`
	}
	c.decode(&asked)
	if !p.git.IsOnBranch(sha) {
		fail(w, http.StatusNotFound, "404 References for commit Not Found")
		return
	}
	if len([]rune(asked.Description)) > 255 || len([]rune(asked.TargetURL)) > 255 {
		fail(w, http.StatusBadRequest, object{"description": []string{"is too long (maximum is 255 characters)"}})
		return
	}
	s, from := ss.post(c.by.login, sha, asked.Name, asked.State, asked.Description, asked.TargetURL)
	if s == nil {
		fail(w, http.StatusBadRequest, `Cannot transition status via :enqueue from :`+from+
			` (Reason(s): Status cannot transition via "enqueue")`)
		return
	}
	reply(w, http.StatusCreated, ss.show(s))
}

// post sets a status. A pending or running one of the same name and user is updated with the texts that are not empty;
// nil: that is not possible from its state. Unsure: that empty texts change nothing.
func (ss *statuses) post(login, sha, name, state, text, target string) (s *status, from string) {
	now := ss.project.server.now()
	for _, o := range slices.Backward(ss.all) {
		if o.sha == sha && o.name == name && o.author == login && (o.state == "pending" || o.state == "running") {
			s, from = o, o.state
			break
		}
	}
	switch {
	case s != nil && state == "pending":
		return nil, from
	case s == nil:
		s = &status{id: 700 + len(ss.all), sha: sha, name: name, author: login, created: now}
		ss.all = append(ss.all, s)
	}
	if s.state = state; state != "pending" {
		s.finished = now
	}
	if text != "" {
		s.text = text
	}
	if target != "" {
		s.target = target
	}
	ss.project.requests.sync()
	return s, from
}

// of returns the statuses of a commit, oldest first.
func (ss *statuses) of(sha string) (all []*status) {
	for _, s := range ss.all {
		if s.sha == sha {
			all = append(all, s)
		}
	}
	return all
}

// latest returns the newest status of each name of a commit, oldest first.
func (ss *statuses) latest(sha string) (latest []*status) {
	all := ss.of(sha)
	for i, s := range all {
		if !slices.ContainsFunc(all[i+1:], func(o *status) bool { return o.name == s.name }) {
			latest = append(latest, s)
		}
	}
	return latest
}

func (ss *statuses) show(s *status) object {
	return object{
		"id": s.id, "sha": s.sha, "ref": "main", "status": s.state, "name": s.name, "description": orNull(s.text),
		"target_url": orNull(s.target), "created_at": when(s.created), "started_at": nil, "finished_at": when(s.finished),
		"allow_failure": false, "coverage": nil, "pipeline_id": 1, "author": ss.project.server.user(s.author),
	}
}

// jobState returns GitLab's state for one of ours. GitLab's own states stay.
func jobState(state string) string {
	if own := map[string]string{"failure": "failed", "error": "canceled"}[state]; own != "" {
		return own
	}
	return state
}
