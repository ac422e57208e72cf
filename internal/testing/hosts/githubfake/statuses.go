package githubfake

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// creator is a user or an app in the REST API.
func creator(login string) any {
	if login == "" {
		return nil
	}
	return object{"login": login, "type": kindOf(login)}
}

// kindOf is the type of a user or an app.
func kindOf(login string) string {
	if strings.HasSuffix(login, botSuffix) {
		return "Bot"
	}
	return "User"
}

const botSuffix = "[bot]"

// maxStatuses is the number of statuses that GitHub keeps per commit and context.
const maxStatuses = 1000

var fullHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (s *Server) routeStatuses() {
	onRepo(s, "POST /statuses/{sha}", (*Repo).setStatus)
	onCommit(s, "GET /commits/{sha}/statuses", func(r *Repo, c *call, commit string) answer {
		return ok(page(c, showStatuses(r.StatusesOf(commit))))
	})
	onCommit(s, "GET /commits/{sha}/status", func(r *Repo, c *call, commit string) answer {
		all := showStatuses(r.LatestOf(commit))
		return ok(object{"sha": commit, "total_count": len(all), "statuses": page(c, all)})
	})
}

// onCommit routes requests below a repo for the commit {sha}.
func onCommit(s *Server, pattern string, do func(r *Repo, c *call, commit string) answer) {
	onRepo(s, pattern, func(r *Repo, c *call, _ none) answer {
		commit := r.Git.Commit(c.PathValue("sha"))
		if commit == "" {
			return fail(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.PathValue("sha"))
		}
		return do(r, c, commit)
	})
}

// showStatuses returns statuses in the REST API's format, newest first.
func showStatuses(oldestFirst []*hostfake.Status) []object {
	all := lists.Map(oldestFirst, showStatus)
	slices.Reverse(all)
	return all
}

func showStatus(s *hostfake.Status) object {
	at := s.Created.UTC().Truncate(time.Second)
	return object{"id": s.ID, "state": s.State, "context": s.Context, "description": s.Description,
		"target_url": s.TargetURL, "created_at": at, "updated_at": at, "creator": creator(s.Login)}
}

// statusRequest is the body of a request for a new status.
type statusRequest struct {
	State, Context, Description string
	TargetURL                   string `json:"target_url"`
}

func (r *Repo) setStatus(c *call, asked statusRequest) answer {
	hash, context := c.PathValue("sha"), cmp.Or(asked.Context, "default")
	before := slices.DeleteFunc(r.StatusesOf(hash),
		func(o *hostfake.Status) bool { return !strings.EqualFold(o.Context, context) })
	switch {
	case !fullHash.MatchString(hash) || r.Git.Commit(hash) == "":
		return fail(http.StatusUnprocessableEntity, "No commit found for SHA: "+hash)
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, asked.State):
		return invalid("Status", "state", "State is not included in the list")
	case len([]rune(asked.Description)) > 140:
		return invalid("Status", "description", "description is too long (maximum is 140 characters)")
	case len([]rune(context)) > 255:
		return invalid("Status", "context", "context is too long (maximum is 255 characters)")
	case asked.TargetURL != "" && !strings.HasPrefix(asked.TargetURL, "http"):
		return invalid("Status", "target_url", "Url must use http(s) scheme")
	case len(before) >= maxStatuses:
		return invalid("Status", "", "This SHA and context has reached the maximum number of statuses.")
	}
	set := r.AddStatus(hostfake.Status{
		Commit: hash, Context: context, State: asked.State, Description: asked.Description, TargetURL: asked.TargetURL,
		Login: c.By.Login,
	})
	r.sync()
	return created(showStatus(set))
}

// mergeable returns GitHub's state of a pull request that may be merged: failing optional checks make it "unstable".
func (p *pull) mergeable() string {
	if slices.ContainsFunc(p.repo.LatestOf(p.HeadCommit), func(s *hostfake.Status) bool { return s.State != "success" }) {
		return "unstable"
	}
	return "clean"
}
