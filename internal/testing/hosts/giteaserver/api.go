package giteaserver

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

// API sends requests for a repo to Gitea's API, past the proxy. A refused request fails the test, unless its status is
// among the allowed ones.
type API struct {
	server *Server
	path   string // of the repo
}

// Send sends a request of the administrator for a path below the repo, and returns the status.
func (a API) Send(t testing.TB, method, path string, body, into any, allowed ...int) int {
	t.Helper()
	return a.server.call(t, a.server.admin, method, a.path+path, body, into, allowed...)
}

// post sends a request below the repo's path as a user.
func (a API) post(t testing.TB, login, path string, body, into any, allowed ...int) int {
	t.Helper()
	return a.server.call(t, "token "+a.server.Token(t, login), http.MethodPost, a.path+path, body, into, allowed...)
}

// OpenIssue opens an issue as a user, and returns its number.
func (a API) OpenIssue(t testing.TB, author, title, body string) int {
	t.Helper()
	var opened struct{ Number int }
	a.post(t, author, "/issues", object{"title": title, "body": body}, &opened)
	return opened.Number
}

// unprotect removes the protection of a branch.
func (a API) unprotect(t testing.TB, branch string) {
	t.Helper()
	a.Send(t, http.MethodDelete, "/branch_protections/"+url.PathEscape(branch), nil, nil, http.StatusNotFound)
}

// Await repeats a question until it is answered with yes. After two minutes, the test fails with what is wrong.
func Await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for range 1200 { // on a busy machine, Gitea takes long
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(what)
}
