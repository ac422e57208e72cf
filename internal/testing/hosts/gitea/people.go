package gitea

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// PullRequest is a pull request, as people see it.
type PullRequest struct {
	Number         int
	State          string // open, closed, merged
	Title, Body    string // the title without the prefix of a draft
	Branch, Target string
	Draft          bool
	AutoMerge      bool
	Labels         []string
	Asked          []string // whose reviews were requested: "user", "organisation/team"; twice if requested twice
}

// PullRequests returns all pull requests, oldest first.
func (r *Repo) PullRequests(t testing.TB) (all []PullRequest) {
	t.Helper()
	var list []struct {
		Number             int
		State, Title, Body string
		Draft, Merged      bool
		Head, Base         struct{ Label string }
		Labels             []struct{ Name string }
	}
	r.API.Send(t, http.MethodGet, "/pulls?state=all&sort=oldest&limit=50", nil, &list)
	for _, p := range list {
		one := PullRequest{
			Number: p.Number, State: p.State, Title: p.Title, Body: p.Body, Branch: p.Head.Label, Target: p.Base.Label,
			Draft: p.Draft,
		}
		if p.Merged {
			one.State = "merged"
		}
		if p.Draft {
			one.Title = strings.TrimPrefix(p.Title, "WIP: ")
		}
		for _, label := range p.Labels {
			one.Labels = append(one.Labels, label.Name)
		}
		var events []event
		r.API.Send(t, http.MethodGet, fmt.Sprintf("/issues/%d/timeline?limit=50", one.Number), nil, &events)
		one.readTimeline(r.Owner, events)
		all = append(all, one)
	}
	return all
}

// event is an entry of a timeline.
type event struct {
	Type     string
	Assignee struct{ Login string }
	Team     struct{ Name string } `json:"assignee_team"`
	Removed  bool                  `json:"removed_assignee"`
}

// readTimeline sets what only the timeline of a pull request contains.
func (one *PullRequest) readTimeline(owner string, events []event) {
	for _, e := range events {
		switch {
		case e.Type == "review_request" && e.Team.Name != "":
			one.Asked = append(one.Asked, owner+"/"+e.Team.Name)
		case e.Type == "review_request" && !e.Removed:
			one.Asked = append(one.Asked, e.Assignee.Login)
		case e.Type == "pull_scheduled_merge":
			one.AutoMerge = true
		case e.Type == "pull_cancel_scheduled_merge":
			one.AutoMerge = false
		}
	}
}

// Protect makes the server refuse pushes to branches by all but one user. Merges still work.
func (r *Repo) Protect(t testing.TB, except string, branches ...string) {
	t.Helper()
	for _, branch := range branches {
		r.API.Unprotect(t, branch)
		users := []string{except}
		r.API.Send(t, http.MethodPost, "/branch_protections", object{
			"rule_name": branch, "enable_push": true, "enable_push_whitelist": true, "push_whitelist_usernames": users,
			"enable_force_push": true, "enable_force_push_allowlist": true, "force_push_allowlist_usernames": users,
		}, nil)
	}
}

// Revoke deletes the tokens of the repo's user.
func (r *Repo) Revoke(t testing.TB) {
	t.Helper()
	as := func(req *http.Request) { req.SetBasicAuth(r.Login, password) }
	var tokens []struct{ ID int }
	path := "/users/" + r.Login + "/tokens"
	r.server.send(t, as, http.MethodGet, path, nil, &tokens)
	for _, token := range tokens {
		r.server.send(t, as, http.MethodDelete, fmt.Sprint(path, "/", token.ID), nil, nil)
	}
}

// Before runs f once, before the next request with the method whose path has a part: of the API below the repo, or of
// Git. f may use the server.
func (r *Repo) Before(method, path string, f func()) {
	p := r.server.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = append(p.before, &hook{method, path, "/" + r.Owner + "/" + r.Name, f})
}
