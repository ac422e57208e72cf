package githubfake

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
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

// maxStatuses is the number of statuses that GitHub keeps per commit and context.
const maxStatuses = 1000

var fullHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (s *Server) routeStatuses() {
	s.api.HandleFunc("POST "+restPrefix+"/repos/{owner}/{name}/statuses/{sha}", s.setStatus)
	get := func(what string, answer func(w http.ResponseWriter, req *http.Request, r *Repo, commit string)) {
		s.api.HandleFunc("GET "+restPrefix+"/repos/{owner}/{name}/commits/{sha}/"+what,
			func(w http.ResponseWriter, req *http.Request) {
				r, _ := s.opened(w, req, Read)
				if r == nil {
					return
				}
				commit := r.commit(req.PathValue("sha"))
				if commit == "" {
					fail(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+req.PathValue("sha"))
					return
				}
				answer(w, req, r, commit)
			})
	}
	get("statuses", func(w http.ResponseWriter, req *http.Request, r *Repo, commit string) {
		all := slices.Clone(r.statuses[commit])
		slices.Reverse(all) // GitHub lists the newest first
		reply(w, http.StatusOK, page(w, req, all))
	})
	get("status", func(w http.ResponseWriter, req *http.Request, r *Repo, commit string) {
		all := r.latest(commit)
		reply(w, http.StatusOK, object{"sha": commit, "total_count": len(all), "statuses": page(w, req, all)})
	})
}

func (s *Server) setStatus(w http.ResponseWriter, req *http.Request) {
	r, t := s.opened(w, req, Write)
	var asked status
	if r == nil || !decode(w, req, &asked) {
		return
	}
	hash := req.PathValue("sha")
	if asked.Context == "" {
		asked.Context = "default"
	}
	before := slices.DeleteFunc(slices.Clone(r.statuses[hash]),
		func(o status) bool { return !strings.EqualFold(o.Context, asked.Context) })
	switch {
	case !fullHash.MatchString(hash) || r.commit(hash) == "":
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
		asked = r.addStatus(hash, asked)
		r.sync()
		reply(w, http.StatusCreated, asked)
	}
}

// addStatus adds a status with the current time.
func (r *Repo) addStatus(commit string, s status) status {
	s.ID, s.CreatedAt = len(r.statuses[commit])+1, r.server.now().UTC().Truncate(time.Second)
	s.UpdatedAt = s.CreatedAt
	r.statuses[commit] = append(r.statuses[commit], s)
	return s
}

// latest returns the latest status of each context of a commit, newest first.
func (r *Repo) latest(commit string) []status {
	all := []status{}
	for _, s := range slices.Backward(r.statuses[commit]) {
		if !slices.ContainsFunc(all, func(o status) bool { return strings.EqualFold(o.Context, s.Context) }) {
			all = append(all, s)
		}
	}
	return all
}

// mergeable returns GitHub's state of a pull request that may be merged: failing optional checks make it "unstable".
func (r *Repo) mergeable(p *pull) string {
	if slices.ContainsFunc(r.latest(p.headCommit), func(s status) bool { return s.State != "success" }) {
		return "unstable"
	}
	return "clean"
}

// AgeStatuses makes all statuses of a commit older.
func (r *Repo) AgeStatuses(commit string, by time.Duration) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for i := range r.statuses[commit] {
		r.statuses[commit][i].CreatedAt = r.statuses[commit][i].CreatedAt.Add(-by)
	}
}
