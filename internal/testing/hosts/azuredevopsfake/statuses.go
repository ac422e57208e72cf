package azuredevopsfake

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// status is a status of a commit, or of a pull request.
type status struct {
	id                   int
	sha                  string
	genre, name, state   string
	text, target, author string
	created              time.Time
}

func (s *status) sameContext(o *status) bool {
	return s.sha == o.sha && strings.EqualFold(s.genre, o.genre) && strings.EqualFold(s.name, o.name)
}

// statuses are the statuses of the commits of a repo, the oldest first.
type statuses struct {
	repo *Repo
	all  []*status
}

func (s *statuses) serve(w http.ResponseWriter, c *call) {
	sha := c.path[6]
	if s.repo.git.Commit(sha) == "" { // unsure: the text
		fail(w, http.StatusNotFound, "GitCommitDoesNotExistException",
			"TF401175:The version descriptor <Commit: "+sha+" > could not be resolved to a version in the repository "+
				s.repo.Name)
		return
	}
	if c.Method == http.MethodPost {
		var asked struct {
			State, Description, TargetURL string
			Context                       struct{ Genre, Name string }
		}
		c.decode(&asked)
		if asked.Context.Name == "" {
			fail(w, http.StatusBadRequest, "InvalidArgumentValueException",
				"A status needs a name. Parameter name: context.name")
			return
		}
		set := s.add(c.by.login, sha, asked.Context.Genre, asked.Context.Name, asked.State, asked.Description,
			asked.TargetURL)
		reply(w, http.StatusCreated, s.show(set))
		return
	}
	query := c.URL.Query()
	var found []object
	for i, one := range s.all {
		later := slices.ContainsFunc(s.all[i+1:], one.sameContext)
		if one.sha == sha && (!later || query.Get("latestOnly") != "true") {
			found = append(found, s.show(one))
		}
	}
	skip, _ := strconv.Atoi(query.Get("skip"))
	top, err := strconv.Atoi(query.Get("top"))
	if err != nil {
		top = 1000
	}
	skip = min(skip, len(found))
	list(w, found[skip:min(skip+top, len(found))])
}

func (s *statuses) add(login, sha, genre, name, state, text, target string) *status {
	one := &status{len(s.all) + 1, sha, genre, name, state, text, target, login, s.repo.server.now()}
	s.all = append(s.all, one)
	return one
}

func (s *statuses) show(one *status) object {
	o := object{
		"id": one.id, "state": one.state, "context": object{"genre": one.genre, "name": one.name},
		"createdBy":    s.repo.server.person(one.author).show(),
		"creationDate": when(one.created), "updatedDate": when(one.created),
	}
	for name, value := range map[string]string{"description": one.text, "targetUrl": one.target} {
		if value != "" {
			o[name] = value
		}
	}
	return o
}

// SetStatus sets the status of a commit as a user does, in a context with or without a genre. As pipelines do, it also
// sets that of each pull request with this head, which policies read (docs).
func (r *Repo) SetStatus(login, sha, context, state string) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	genre, name := "", context
	if i := strings.LastIndex(context, "/"); i >= 0 {
		genre, name = context[:i], context[i+1:]
	}
	r.statuses.add(login, sha, genre, name, state, "", "")
	for _, p := range r.pulls {
		if r.git.Head(p.source) == sha {
			p.checks[context] = check{sha, state}
		}
	}
}

// Status returns the latest status of a commit in a context, or "".
func (r *Repo) Status(sha, context string) string {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for _, s := range slices.Backward(r.statuses.all) {
		if s.sha == sha && strings.TrimPrefix(s.genre+"/"+s.name, "/") == context {
			return s.state
		}
	}
	return ""
}

// check is the status of a pull request at a commit.
type check struct{ sha, state string }
