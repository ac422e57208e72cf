package giteaserver

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// PullRequests returns all pull requests as people see them, oldest first. Gitea does not show the method of
// auto-merge.
func (r *Repo) PullRequests() (all []hostfake.PullRequest) {
	r.t.Helper()
	var list []struct {
		Number             int
		State, Title, Body string
		Draft, Merged      bool
		Head, Base         struct{ Label string }
		Labels             []struct{ Name string }
	}
	r.API.Send(r.t, http.MethodGet, "/pulls?state=all&sort=oldest&limit=50", nil, &list)
	for _, p := range list {
		one := hostfake.PullRequest{
			Number: p.Number, State: p.State, Title: p.Title, Body: p.Body, Head: p.Head.Label, Base: p.Base.Label,
			Draft: p.Draft,
		}
		if p.Merged {
			one.State = hostfake.Merged
		}
		for _, label := range p.Labels {
			one.Labels = append(one.Labels, label.Name)
		}
		var events []event
		r.API.Send(r.t, http.MethodGet, fmt.Sprintf("/issues/%d/timeline?limit=50", one.Number), nil, &events)
		readTimeline(&one, events, r.Owner)
		if one.State != hostfake.Open {
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

// readTimeline sets what only the timeline of a pull request contains, in a repo of an owner.
func readTimeline(one *hostfake.PullRequest, events []event, owner string) {
	for _, e := range events {
		switch {
		case e.Type == "review_request" && e.Team.Name != "":
			one.Asked = append(one.Asked, owner+"/"+e.Team.Name)
		case e.Type == "review_request" && !e.Removed:
			one.Asked = append(one.Asked, e.Assignee.Login)
		case e.Type == "pull_scheduled_merge":
			one.AutoMerge = string(githost.UnknownMethod)
		case e.Type == "pull_cancel_scheduled_merge":
			one.AutoMerge = ""
		}
	}
}

// Edit changes title and description.
func (r *Repo) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	r.Change(t, number, object{"title": title, "body": body})
}

// Retarget changes the target branch.
func (r *Repo) Retarget(t testing.TB, number int, base string) {
	t.Helper()
	r.Change(t, number, object{"base": base})
}

// Close closes a pull request.
func (r *Repo) Close(t testing.TB, number int) {
	t.Helper()
	r.Change(t, number, object{"state": "closed"})
}

// Reopen reopens a pull request.
func (r *Repo) Reopen(t testing.TB, number int) {
	t.Helper()
	r.Change(t, number, object{"state": "open"})
}

// Label creates a label, and adds it to a pull request.
func (r *Repo) Label(t testing.TB, number int, name string) {
	t.Helper()
	var label struct{ ID int }
	r.API.Send(t, http.MethodPost, "/labels", object{"name": name, "color": "#00aabb"}, &label)
	r.API.Send(t, http.MethodPost, fmt.Sprintf("/issues/%d/labels", number), object{"labels": []int{label.ID}}, nil)
}

// AutoMerge schedules a merge as a user, like the button for auto-merge. It cancels a scheduled one first, since Gitea
// refuses another method.
func (r *Repo) AutoMerge(t testing.TB, number int, login, method string) {
	t.Helper()
	r.CancelMerge(t, number)
	Await(t, fmt.Sprintf("the merge of pull request %d can't be scheduled", number), func() bool {
		return r.API.post(t, login, fmt.Sprintf("/pulls/%d/merge", number),
			object{"Do": method, "merge_when_checks_succeed": true}, nil,
			http.StatusMethodNotAllowed) != http.StatusMethodNotAllowed
	})
}

// DeleteBranch deletes a branch. Gitea does not delete the default branch, so another branch becomes the default first.
func (r *Repo) DeleteBranch(t testing.TB, branch string) {
	t.Helper()
	r.API.unprotect(t, branch)
	if branch == "main" {
		r.API.Send(t, http.MethodPost, "/branches", object{"new_branch_name": "default", "old_ref_name": branch}, nil)
		r.Set(t, object{"default_branch": "default"})
	}
	r.API.Send(t, http.MethodDelete, "/branches/"+url.PathEscape(branch), nil, nil)
}

// Protect makes the server refuse pushes to branches by all but the first of the users. Merges still work.
func (r *Repo) Protect(t testing.TB, branches ...string) {
	t.Helper()
	users := r.users[:1]
	for _, branch := range branches {
		r.API.unprotect(t, branch)
		r.API.Send(t, http.MethodPost, "/branch_protections", object{
			"rule_name": branch, "enable_push": true, "enable_push_whitelist": true, "push_whitelist_usernames": users,
			"enable_force_push": true, "enable_force_push_allowlist": true, "force_push_allowlist_usernames": users,
		}, nil)
	}
}

// Revoke deletes the tokens of the repo's user.
func (r *Repo) Revoke(t testing.TB) {
	t.Helper()
	var tokens []struct{ ID int }
	path := "/users/" + r.Login + "/tokens"
	r.server.call(t, basic(r.Login), http.MethodGet, path, nil, &tokens)
	for _, token := range tokens {
		r.server.call(t, basic(r.Login), http.MethodDelete, fmt.Sprint(path, "/", token.ID), nil, nil)
	}
}
