package azuredevopsfake

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// serveStatuses answers requests about the statuses of a commit.
func (r *Repo) serveStatuses(w http.ResponseWriter, c *call) {
	sha := c.path[6]
	if r.Git.Commit(sha) == "" { // unsure: the text
		fail(w, http.StatusNotFound, "GitCommitDoesNotExistException",
			"TF401175:The version descriptor <Commit: "+sha+" > could not be resolved to a version in the repository "+
				r.Name)
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
		set := r.AddStatus(hostfake.Status{
			Commit: sha, Context: strings.TrimPrefix(asked.Context.Genre+"/"+asked.Context.Name, "/"), State: asked.State,
			Description: asked.Description, TargetURL: asked.TargetURL, Login: c.by.Login,
		})
		reply(w, http.StatusCreated, r.showStatus(set))
		return
	}
	query := c.URL.Query()
	all := r.StatusesOf(sha)
	if query.Get("latestOnly") == "true" {
		all = r.LatestOf(sha)
	}
	var found []object
	for _, s := range all {
		found = append(found, r.showStatus(s))
	}
	list(w, part(found, query.Get("skip"), query.Get("top"), 1000))
}

func (r *Repo) showStatus(s *hostfake.Status) object {
	at := strings.LastIndex(s.Context, "/") + 1
	o := object{
		"id": s.ID, "state": s.State,
		"context":      object{"genre": strings.TrimSuffix(s.Context[:at], "/"), "name": s.Context[at:]},
		"createdBy":    r.server.person(s.Login).show(),
		"creationDate": when(s.Created), "updatedDate": when(s.Created),
	}
	for name, value := range map[string]string{"description": s.Description, "targetUrl": s.TargetURL} {
		if value != "" {
			o[name] = value
		}
	}
	return o
}

// SetStatus sets the status of a commit as a user does, in a context with or without a genre, and in one of our states
// or of Azure's. As pipelines do, it also sets that of each pull request with this head, which policies read (docs).
func (r *Repo) SetStatus(login, sha, context, state string) {
	state = cmp.Or(map[string]string{"success": "succeeded", "failure": "failed"}[state], state)
	r.Server.Locked(func() {
		r.AddStatus(hostfake.Status{Commit: sha, Context: context, State: state, Login: login})
		for _, p := range r.All {
			if r.Git.Head(p.Head) == sha {
				p.checks[context] = check{sha, state}
			}
		}
	})
}

// check is the status of a pull request at a commit.
type check struct{ sha, state string }
