package githubfake

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

type status struct {
	ID          int    `json:"id"`
	State       string `json:"state"`
	Context     string `json:"context"`
	Description string `json:"description"`
	TargetURL   string `json:"target_url"`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Creator   *creator  `json:"creator"`
}

// creator is a user or an app in the REST API.
type creator struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

func creatorOf(login string) *creator {
	if login == "" {
		return nil
	}
	c := &creator{Login: login, Type: "User"}
	if strings.HasSuffix(login, botSuffix) {
		c.Type = "Bot"
	}
	return c
}

const botSuffix = "[bot]"

// statuses are the statuses and the check runs of the commits of a repo.
type statuses struct {
	git       hostfake.Repo
	now       func() time.Time
	byCommit  map[string][]status
	checkRuns map[string][]checkRun
	commits   map[string]bool // commits that exist
}

// maxStatuses is the number of statuses that GitHub keeps per commit and context.
const maxStatuses = 1000

var fullHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (a *api) routeStatuses() {
	a.mux.HandleFunc("POST "+restPrefix+"/repos/{owner}/{name}/statuses/{sha}", a.setStatus)
	get := func(what string, answer func(w http.ResponseWriter, req *http.Request, r *Repo, commit string)) {
		a.mux.HandleFunc("GET "+restPrefix+"/repos/{owner}/{name}/commits/{sha}/"+what,
			func(w http.ResponseWriter, req *http.Request) {
				r, _ := a.opened(w, req, Read)
				if r == nil {
					return
				}
				commit := r.git.Commit(req.PathValue("sha"))
				if commit == "" {
					fail(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+req.PathValue("sha"))
					return
				}
				answer(w, req, r, commit)
			})
	}
	get("statuses", func(w http.ResponseWriter, req *http.Request, r *Repo, commit string) {
		all := slices.Clone(r.statuses.byCommit[commit])
		slices.Reverse(all) // GitHub lists the newest first
		reply(w, http.StatusOK, page(w, req, all))
	})
	get("status", func(w http.ResponseWriter, req *http.Request, r *Repo, commit string) {
		all := r.statuses.latest(commit)
		reply(w, http.StatusOK, object{"sha": commit, "total_count": len(all), "statuses": page(w, req, all)})
	})
}

func (a *api) setStatus(w http.ResponseWriter, req *http.Request) {
	r, t := a.opened(w, req, Write)
	var asked status
	if r == nil || !decode(w, req, &asked) {
		return
	}
	hash := req.PathValue("sha")
	if asked.Context == "" {
		asked.Context = "default"
	}
	before := slices.DeleteFunc(slices.Clone(r.statuses.byCommit[hash]),
		func(o status) bool { return !strings.EqualFold(o.Context, asked.Context) })
	switch {
	case !fullHash.MatchString(hash) || r.git.Commit(hash) == "":
		fail(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+hash)
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, asked.State):
		invalid(w, "Status", "state", "State is not included in the list")
	case len([]rune(asked.Description)) > 140:
		invalid(w, "Status", "description", "description is too long (maximum is 140 characters)")
	case len([]rune(asked.Context)) > 255:
		invalid(w, "Status", "context", "context is too long (maximum is 255 characters)")
	case asked.TargetURL != "" && !strings.HasPrefix(asked.TargetURL, "http"):
		invalid(w, "Status", "target_url", "Url must use http(s) scheme")
	case len(before) >= maxStatuses:
		invalid(w, "Status", "", "This SHA and context has reached the maximum number of statuses.")
	default:
		asked.Creator = creatorOf(t.login)
		asked = r.statuses.add(hash, asked)
		r.pulls.sync()
		reply(w, http.StatusCreated, asked)
	}
}

// add adds a status with the current time.
func (s *statuses) add(commit string, one status) status {
	one.ID, one.CreatedAt = len(s.byCommit[commit])+1, s.now().UTC().Truncate(time.Second)
	one.UpdatedAt = one.CreatedAt
	s.byCommit[commit] = append(s.byCommit[commit], one)
	return one
}

// latest returns the latest status of each context of a commit, newest first.
func (s *statuses) latest(commit string) []status {
	all := []status{}
	for _, one := range slices.Backward(s.byCommit[commit]) {
		if !slices.ContainsFunc(all, func(o status) bool { return strings.EqualFold(o.Context, one.Context) }) {
			all = append(all, one)
		}
	}
	return all
}

// mergeable returns GitHub's state of a pull request that may be merged: failing optional checks make it "unstable".
func (p *pull) mergeable() string {
	if slices.ContainsFunc(p.repo.statuses.latest(p.headCommit), func(s status) bool { return s.State != "success" }) {
		return "unstable"
	}
	return "clean"
}

// AgeStatuses makes all statuses of a commit older.
func (r *Repo) AgeStatuses(commit string, by time.Duration) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for i := range r.statuses.byCommit[commit] {
		r.statuses.byCommit[commit][i].CreatedAt = r.statuses.byCommit[commit][i].CreatedAt.Add(-by)
	}
}
