// Package githubfake is a fake GitHub Enterprise server for tests: Git over HTTP, the REST API below /api/v3/ and
// GraphQL at /api/graphql, on one listener. Its repositories are real ones, served by git http-backend. The API reads
// and writes their refs, so that a pull request's head follows its branch, and a merge is a merge in Git.
//
// It only implements what this provider uses, as GitHub does, and can fail as GitHub fails.
package githubfake

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const restPrefix = "/api/v3"

// Server is a GitHub on loopback. Its URL is also the base_url of the API.
type Server struct {
	*hostfake.Server

	api   hostfake.API
	repos map[string]*Repo // by lower-case owner/name
	apps  []*App
}

// New starts a server without repos. It serves Git to gitremote, without git processes: see [gitserver.InProcess].
func New(t testing.TB, options ...hostfake.Option) *Server {
	t.Helper()
	s := &Server{repos: map[string]*Repo{}}
	s.api = hostfake.API{Prefix: "/api", ContentType: jsonType, Authenticate: s.authenticate}
	s.routePulls()
	s.routeIssues()
	s.routeStatuses()
	hostfake.Handle(&s.api, "POST /v3/app/installations/{id}/access_tokens", s.giveToken)
	hostfake.Handle(&s.api, "POST /graphql", s.graphql)
	s.api.HandleUnknown(fail(http.StatusNotFound, "Not Found"))
	s.Server = hostfake.Start(t, hostfake.Host{
		APIPath: func(req *http.Request) (string, bool) {
			return strings.TrimPrefix(req.URL.Path, restPrefix), strings.HasPrefix(req.URL.Path, "/api/")
		},
		Answer:   func(w *httptest.ResponseRecorder, req *http.Request, _ []byte) { s.api.ServeHTTP(w, req) },
		GitToken: s.gitToken, GitErrors: gitErrors, GitOptions: []gitserver.Option{gitserver.InProcess()},
		Header: map[string]string{"X-RateLimit-Remaining": "4999"}, Token: "ghp_canaryTokenOfTheFake",
	}, options...)
	return s
}

// onRepo routes requests below a repo to a function, which gets the body.
func onRepo[B any](s *Server, pattern string, do func(r *Repo, c *call, asked B) answer) {
	method, path, _ := strings.Cut(pattern, " ")
	hostfake.Handle(&s.api, method+" /v3/repos/{owner}/{name}"+path, func(c *call, asked B) answer {
		r, refused := s.opened(c)
		if r == nil {
			return refused
		}
		return do(r, c, asked)
	})
}

// onPull routes requests below a repo for the pull request {number}.
func onPull[B any](s *Server, pattern string, do func(p *pull, c *call, asked B) answer) {
	onRepo(s, pattern, func(r *Repo, c *call, asked B) answer {
		r.sync()
		number, _ := strconv.Atoi(c.PathValue("number"))
		p, found := r.Find(number)
		if !found {
			return fail(http.StatusNotFound, "Not Found")
		}
		return do(p, c, asked)
	})
}

const jsonType = "application/json; charset=utf-8"

type (
	object = hostfake.Object
	answer = hostfake.Answer
	call   = hostfake.Call
	none   = struct{} // the body of a request without one
)

var (
	value   = hostfake.Value
	ok      = hostfake.OK
	created = hostfake.Created
)

// fail answers in the format of GitHub's errors.
func fail(status int, message string, errs ...object) answer {
	body := object{"message": message, "documentation_url": "https://docs.github.com/rest"}
	if len(errs) > 0 {
		body["errors"] = errs
	}
	return answer{Status: status, Body: body}
}

// invalid answers 422 with one error.
func invalid(resource, field, message string) answer {
	e := object{"resource": resource, "code": "custom", "message": message}
	if field != "" {
		e["field"] = field
	}
	return fail(http.StatusUnprocessableEntity, "Validation Failed", e)
}
