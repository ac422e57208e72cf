package azuredevopsfake

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
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

func (r *Repo) serveStatuses(w http.ResponseWriter, c *call) {
	sha := c.path[6]
	if !gitserver.HasCommit(r.Dir, sha) &&
		r.git("rev-parse", "--verify", "--quiet", "--end-of-options", sha+"^{commit}") == "" { // unsure: the text
		fail(w, http.StatusNotFound, "GitCommitDoesNotExistException",
			"TF401175:The version descriptor <Commit: "+sha+" > could not be resolved to a version in the repository "+r.Name)
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
		s := r.post(c.by.login, sha, asked.Context.Genre, asked.Context.Name, asked.State, asked.Description, asked.TargetURL)
		reply(w, http.StatusCreated, r.showStatus(s))
		return
	}
	query := c.URL.Query()
	var found []object
	for i, s := range r.statuses {
		later := slices.ContainsFunc(r.statuses[i+1:], s.sameContext)
		if s.sha == sha && (!later || query.Get("latestOnly") != "true") {
			found = append(found, r.showStatus(s))
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

func (r *Repo) post(login, sha, genre, name, state, text, target string) *status {
	s := &status{len(r.statuses) + 1, sha, genre, name, state, text, target, login, r.server.now()}
	r.statuses = append(r.statuses, s)
	return s
}

func (r *Repo) showStatus(s *status) object {
	o := object{
		"id": s.id, "state": s.state, "context": object{"genre": s.genre, "name": s.name},
		"createdBy": r.server.person(s.author).show(), "creationDate": when(s.created), "updatedDate": when(s.created),
	}
	for name, value := range map[string]string{"description": s.text, "targetUrl": s.target} {
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
	r.post(login, sha, genre, name, state, "", "")
	for _, p := range r.pulls {
		if r.rev(p.source) == sha {
			p.checks[context] = check{sha, state}
		}
	}
}

// Status returns the latest status of a commit in a context, or "".
func (r *Repo) Status(sha, context string) string {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for _, s := range slices.Backward(r.statuses) {
		if s.sha == sha && strings.TrimPrefix(s.genre+"/"+s.name, "/") == context {
			return s.state
		}
	}
	return ""
}

// check is the status of a pull request at a commit.
type check struct{ sha, state string }
