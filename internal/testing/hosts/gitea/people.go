package gitea

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// PullRequests returns all pull requests as people see them, oldest first. A draft's title has no prefix. Gitea does
// not show the method of auto-merge.
func (r *Repo) PullRequests(t testing.TB) (all []hostfake.PullRequest) {
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
		one := hostfake.PullRequest{
			Number: p.Number, State: p.State, Title: p.Title, Body: p.Body, Head: p.Head.Label, Base: p.Base.Label,
			Draft: p.Draft,
		}
		if p.Merged {
			one.State = hostfake.Merged
		}
		if p.Draft {
			one.Title = strings.TrimPrefix(p.Title, "WIP: ")
		}
		for _, label := range p.Labels {
			one.Labels = append(one.Labels, label.Name)
		}
		var events []event
		r.API.Send(t, http.MethodGet, fmt.Sprintf("/issues/%d/timeline?limit=50", one.Number), nil, &events)
		if r.readTimeline(&one, events); one.State != hostfake.Open {
			one.AutoMerge = ""
		}
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
func (r *Repo) readTimeline(one *hostfake.PullRequest, events []event) {
	for _, e := range events {
		switch {
		case e.Type == "review_request" && e.Team.Name != "":
			one.Asked = append(one.Asked, r.Owner+"/"+e.Team.Name)
		case e.Type == "review_request" && !e.Removed:
			one.Asked = append(one.Asked, e.Assignee.Login)
		case e.Type == "pull_scheduled_merge":
			one.AutoMerge = string(githost.UnknownMethod)
		case e.Type == "pull_cancel_scheduled_merge":
			one.AutoMerge = ""
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
