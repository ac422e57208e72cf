package githubfake

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

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

func (a *api) routeStatuses() {
	a.mux.HandleFunc("POST "+restPrefix+"/repos/{owner}/{name}/statuses/{sha}", a.setStatus)
	get := func(what string, answer func(w http.ResponseWriter, req *http.Request, r *Repo, commit string)) {
		a.mux.HandleFunc("GET "+restPrefix+"/repos/{owner}/{name}/commits/{sha}/"+what,
			func(w http.ResponseWriter, req *http.Request) {
				r, _ := a.opened(w, req, hostfake.Read)
				if r == nil {
					return
				}
				commit := r.Git.Commit(req.PathValue("sha"))
				if commit == "" {
					fail(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+req.PathValue("sha"))
					return
				}
				answer(w, req, r, commit)
			})
	}
	get("statuses", func(w http.ResponseWriter, req *http.Request, r *Repo, commit string) {
		reply(w, http.StatusOK, page(w, req, showStatuses(r.StatusesOf(commit))))
	})
	get("status", func(w http.ResponseWriter, req *http.Request, r *Repo, commit string) {
		all := showStatuses(r.LatestOf(commit))
		reply(w, http.StatusOK, object{"sha": commit, "total_count": len(all), "statuses": page(w, req, all)})
	})
}

// showStatuses returns statuses in the REST API's format, newest first.
func showStatuses(oldestFirst []*hostfake.Status) []object {
	all := []object{}
	for _, s := range slices.Backward(oldestFirst) {
		all = append(all, showStatus(s))
	}
	return all
}

func showStatus(s *hostfake.Status) object {
	at := s.Created.UTC().Truncate(time.Second)
	return object{"id": s.ID, "state": s.State, "context": s.Context, "description": s.Description,
		"target_url": s.TargetURL, "created_at": at, "updated_at": at, "creator": creator(s.Login)}
}

func (a *api) setStatus(w http.ResponseWriter, req *http.Request) {
	r, t := a.opened(w, req, hostfake.Write)
	var asked struct {
		State, Context, Description string
		TargetURL                   string `json:"target_url"`
	}
	if r == nil || !decode(w, req, &asked) {
		return
	}
	hash, context := req.PathValue("sha"), cmp.Or(asked.Context, "default")
	before := slices.DeleteFunc(r.StatusesOf(hash),
		func(o *hostfake.Status) bool { return !strings.EqualFold(o.Context, context) })
	switch {
	case !fullHash.MatchString(hash) || r.Git.Commit(hash) == "":
		fail(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+hash)
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, asked.State):
		invalid(w, "Status", "state", "State is not included in the list")
	case len([]rune(asked.Description)) > 140:
		invalid(w, "Status", "description", "description is too long (maximum is 140 characters)")
	case len([]rune(context)) > 255:
		invalid(w, "Status", "context", "context is too long (maximum is 255 characters)")
	case asked.TargetURL != "" && !strings.HasPrefix(asked.TargetURL, "http"):
		invalid(w, "Status", "target_url", "Url must use http(s) scheme")
	case len(before) >= maxStatuses:
		invalid(w, "Status", "", "This SHA and context has reached the maximum number of statuses.")
	default:
		set := r.AddStatus(hostfake.Status{
			Commit: hash, Context: context, State: asked.State, Description: asked.Description, TargetURL: asked.TargetURL,
			Login: t.Login,
		})
		r.sync()
		reply(w, http.StatusCreated, showStatus(set))
	}
}

// mergeable returns GitHub's state of a pull request that may be merged: failing optional checks make it "unstable".
func (p *pull) mergeable() string {
	if slices.ContainsFunc(p.repo.LatestOf(p.HeadCommit), func(s *hostfake.Status) bool { return s.State != "success" }) {
		return "unstable"
	}
	return "clean"
}
