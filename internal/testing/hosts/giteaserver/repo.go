package giteaserver

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// Bot is the user of the provider in the tests. It may write to each repo.
const Bot = "kalypso-bot"

// scopes are those that the documentation asks for, and readScopes those without the right to write.
var (
	scopes     = []string{"write:repository", "write:issue", "read:user"}
	readScopes = []string{"read:repository", "read:issue", "read:user"}
)

// password is the password of all users.
const password = "canary-Password-1"

// Token returns a token of a user with the scopes that the documentation asks for. The user is created if absent.
func (s *Server) Token(t testing.TB, login string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[login] == "" {
		s.call(t, s.admin, http.MethodPost, "/admin/users", object{
			"username": login, "email": login + "@acme.io", "password": password, "must_change_password": false,
		}, nil)
		s.users[login] = s.newToken(t, login, scopes...)
	}
	return s.users[login]
}

// ReadToken returns a token of a user that may read, and not write.
func (s *Server) ReadToken(t testing.TB, login string) string {
	t.Helper()
	s.Token(t, login)
	return s.newToken(t, login, readScopes...)
}

func (s *Server) newToken(t testing.TB, login string, scopes ...string) string {
	t.Helper()
	var token struct {
		SHA1 string `json:"sha1"`
	}
	s.call(t, basic(login), http.MethodPost, "/users/"+login+"/tokens",
		object{"name": fmt.Sprint(time.Now().UnixNano()), "scopes": scopes}, &token)
	return token.SHA1
}

// basic authorizes a user by the password.
func basic(login string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(login+":"+password))
}

// object is a JSON object.
type object = map[string]any

// Repo is a private repo of an organisation of its own.
type Repo struct {
	*hostfake.Traffic // with the token, which fails and is logged

	Owner, Name string
	URL         string // for the provider
	Token       string // of a user of its own that may write; see [Repo.Login]
	Login       string
	API         API

	server *Server
	users  []string // of the team platform
	t      testing.TB
}

// AddRepo creates a repo. The users may write to it, as members of the team platform. Its branch main has a commit,
// since Gitea takes an empty repo for empty until some time after the first push. Push with force.
func (s *Server) AddRepo(t testing.TB, name string, users ...string) *Repo {
	t.Helper()
	s.mu.Lock()
	s.repos++
	number := s.repos
	s.mu.Unlock()
	r := &Repo{
		Owner: fmt.Sprint("acme", number), Name: name, Login: fmt.Sprint(Bot, number), server: s, users: users, t: t,
	}
	r.Token, r.URL = s.Token(t, r.Login), s.URL+"/"+r.Owner+"/"+r.Name
	r.Traffic = s.proxy.trafficOf(r.Token)
	r.API = API{s, "/repos/" + r.Owner + "/" + r.Name}
	s.call(t, s.admin, http.MethodPost, "/orgs", object{"username": r.Owner}, nil)
	r.AddTeam(t, "machines", r.Login)
	r.AddTeam(t, "platform", users...)
	s.call(t, s.admin, http.MethodPost, "/orgs/"+r.Owner+"/repos",
		object{"name": r.Name, "private": true, "default_branch": "main", "auto_init": true}, nil)
	return r
}

// AddTeam creates a team of users that may write.
func (r *Repo) AddTeam(t testing.TB, name string, users ...string) {
	t.Helper()
	var team struct{ ID int }
	r.server.call(t, r.server.admin, http.MethodPost, "/orgs/"+r.Owner+"/teams", object{
		"name": name, "permission": "write", "includes_all_repositories": true,
		"units": []string{"repo.code", "repo.issues", "repo.pulls"},
	}, &team)
	for _, user := range users {
		r.server.Token(t, user)
		r.server.call(t, r.server.admin, http.MethodPut, fmt.Sprintf("/teams/%d/members/%s", team.ID, user), nil, nil)
	}
}

// Remote returns the repo's URL with the credential of its user, for Git.
func (r *Repo) Remote() string { return r.RemoteAs(r.Login) }

// RemoteAs returns the repo's URL with the credential of a user, for Git.
func (r *Repo) RemoteAs(login string) string {
	return strings.Replace(r.URL, "://", "://"+login+":"+r.server.Token(r.t, login)+"@", 1)
}

// Open opens a pull request as a user.
func (r *Repo) Open(t testing.TB, login, branch, target, title, body string) int {
	t.Helper()
	var opened struct{ Number int }
	r.API.post(t, login, "/pulls", object{"head": branch, "base": target, "title": title, "body": body}, &opened)
	return opened.Number
}

// Fork creates a fork of the repo, and returns the user's URL of it for Git.
func (r *Repo) Fork(t testing.TB, login string) (remote string) {
	t.Helper()
	r.API.post(t, login, "/forks", object{"name": r.Owner + "-" + r.Name}, nil)
	fork := *r
	fork.URL = r.server.URL + "/" + login + "/" + r.Owner + "-" + r.Name
	return fork.RemoteAs(login)
}

// AddOwn creates an empty repo of the user of a repo, who is no organisation.
func (r *Repo) AddOwn(t testing.TB, name string) *Repo {
	t.Helper()
	own := *r
	own.Owner, own.Name, own.URL = r.Login, name, r.server.URL+"/"+r.Login+"/"+name
	own.API.path = "/repos/" + r.Login + "/" + name
	r.server.call(t, r.server.admin, http.MethodPost, "/admin/users/"+r.Login+"/repos",
		object{"name": name, "default_branch": "main"}, nil)
	return &own
}

// Change changes the fields of a pull request as its administrator: title, body, state.
func (r *Repo) Change(t testing.TB, number int, fields map[string]any) {
	t.Helper()
	r.API.Send(t, http.MethodPatch, fmt.Sprintf("/pulls/%d", number), fields, nil)
}

// Review approves a pull request as a user.
func (r *Repo) Review(t testing.TB, number int, login string, _ ...string) {
	t.Helper()
	r.API.post(t, login, fmt.Sprintf("/pulls/%d/reviews", number), object{"event": "APPROVED", "body": "Fine"}, nil)
}

// Merge merges at once, by a method, and returns the new head of main. It waits until Gitea has checked for conflicts.
func (r *Repo) Merge(t testing.TB, number int, method string) string {
	t.Helper()
	Await(t, fmt.Sprintf("pull request %d can't be merged", number), func() bool {
		return r.API.Send(t, http.MethodPost, fmt.Sprintf("/pulls/%d/merge", number),
			object{"Do": method, "force_merge": true}, nil, http.StatusMethodNotAllowed) != http.StatusMethodNotAllowed
	})
	return r.Head(t, "main")
}

// Head returns the commit of a branch, or "".
func (r *Repo) Head(t testing.TB, branch string) string {
	t.Helper()
	var found struct{ Commit struct{ ID string } }
	r.API.Send(t, http.MethodGet, "/branches/"+url.PathEscape(branch), nil, &found, http.StatusNotFound)
	return found.Commit.ID
}

// CancelMerge cancels a scheduled merge, if there is one.
func (r *Repo) CancelMerge(t testing.TB, number int) {
	t.Helper()
	r.API.Send(t, http.MethodDelete, fmt.Sprintf("/pulls/%d/merge", number), nil, nil, http.StatusNotFound)
}

// AwaitMerge waits until a pull request is merged.
func (r *Repo) AwaitMerge(t testing.TB, number int) {
	t.Helper()
	Await(t, fmt.Sprintf("pull request %d is not merged", number), func() bool {
		var now struct{ Merged bool }
		r.API.Send(t, http.MethodGet, fmt.Sprintf("/pulls/%d", number), nil, &now)
		return now.Merged
	})
}

// Require makes merges into a branch wait for successful statuses; without any, merges need none. People may push.
func (r *Repo) Require(branch string, contexts ...string) {
	r.t.Helper()
	contexts = slices.DeleteFunc(contexts, func(c string) bool { return c == "" })
	r.API.unprotect(r.t, branch)
	if len(contexts) > 0 {
		r.API.Send(r.t, http.MethodPost, "/branch_protections", object{
			"rule_name": branch, "enable_push": true, "enable_status_check": true, "status_check_contexts": contexts,
		}, nil)
	}
}

// Set changes the settings of the repo, such as allow_rebase. Gitea refuses that with "already in queue" while it
// counts the languages of an earlier push.
func (r *Repo) Set(t testing.TB, fields map[string]any) {
	t.Helper()
	Await(t, fmt.Sprintf("Gitea does not change %v", fields), func() bool {
		return r.API.Send(t, http.MethodPatch, "", fields, nil, http.StatusInternalServerError) == http.StatusOK
	})
}

// SetStatus sets the status of a commit as a user.
func (r *Repo) SetStatus(login, commit, context, state string) {
	r.t.Helper()
	r.API.post(r.t, login, "/statuses/"+commit, object{"context": context, "state": state}, nil)
}
