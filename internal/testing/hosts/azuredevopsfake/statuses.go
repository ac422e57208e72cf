package azuredevopsfake

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// routeStatuses routes requests about the statuses of a commit.
func (s *Server) routeStatuses() {
	onRepo(s, "GET /commits/{sha}/statuses", (*Repo).listStatuses)
	onRepo(s, "POST /commits/{sha}/statuses", (*Repo).createStatus)
}

// noCommit refuses a request about a commit that the repo lacks.
func (r *Repo) noCommit(sha string) answer {
	if r.Git.Commit(sha) != "" {
		return answer{}
	}
	return fail(http.StatusNotFound, "GitCommitDoesNotExistException", "TF401175:The version descriptor <Commit: "+sha+
		" > could not be resolved to a version in the repository "+r.Name) // unsure: the text
}

type statusRequest struct {
	State, Description, TargetURL string
	Context                       struct{ Genre, Name string }
}

func (r *Repo) createStatus(c *call, asked statusRequest) answer {
	sha := c.PathValue("sha")
	if refused := r.noCommit(sha); refused.Status != 0 {
		return refused
	}
	if asked.Context.Name == "" {
		return fail(http.StatusBadRequest, "InvalidArgumentValueException",
			"A status needs a name. Parameter name: context.name")
	}
	return created(r.showStatus(r.AddStatus(hostfake.Status{
		Commit: sha, Context: strings.TrimPrefix(asked.Context.Genre+"/"+asked.Context.Name, "/"), State: asked.State,
		Description: asked.Description, TargetURL: asked.TargetURL, Login: c.By.Login,
	})))
}

func (r *Repo) listStatuses(c *call, _ none) answer {
	sha, query := c.PathValue("sha"), c.URL.Query()
	if refused := r.noCommit(sha); refused.Status != 0 {
		return refused
	}
	all := r.StatusesOf(sha)
	if query.Get("latestOnly") == "true" {
		all = r.LatestOf(sha)
	}
	return list(part(lists.Map(all, r.showStatus), query.Get("skip"), query.Get("top"), 1000))
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
