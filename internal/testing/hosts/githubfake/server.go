// Package githubfake is a fake GitHub Enterprise server for tests: Git over HTTP, the REST API below /api/v3/ and
// GraphQL at /api/graphql, on one listener. Its repositories are real ones, served by git http-backend. The API reads
// and writes their refs, so that a pull request's head follows its branch, and a merge is a merge in Git.
//
// It only implements what this provider uses, as GitHub does, and can fail as GitHub fails.
package githubfake

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const (
	restPrefix  = "/api/v3"
	graphqlPath = "/api/graphql"
)

// Server is a GitHub on loopback. Its URL is also the base_url of the API.
type Server struct {
	*hostfake.Server

	repos map[string]*Repo // by lower-case owner/name
	apps  []*App
}

// New starts a server without repos. It serves Git to gitremote, without git processes: see [gitserver.InProcess].
func New(t testing.TB, options ...hostfake.Option) *Server {
	t.Helper()
	s := &Server{repos: map[string]*Repo{}}
	s.Server = hostfake.Start(t, hostfake.Host{
		APIPath: func(req *http.Request) (string, bool) {
			return strings.TrimPrefix(req.URL.Path, restPrefix), strings.HasPrefix(req.URL.Path, "/api/")
		},
		Answer: newAPI(s).answer, ServeGit: s.serveGit, GitOptions: []gitserver.Option{gitserver.InProcess()},
		FailureType: jsonType, Header: map[string]string{"X-RateLimit-Remaining": "4999"},
		Token: "ghp_canaryTokenOfTheFake",
	}, options...)
	return s
}

// api answers the requests to the API of a server.
type api struct {
	server *Server
	mux    *http.ServeMux
}

func newAPI(s *Server) *api {
	a := &api{s, http.NewServeMux()}
	a.routePulls()
	a.routeIssues()
	a.routeStatuses()
	a.mux.HandleFunc("POST "+restPrefix+"/app/installations/{id}/access_tokens", a.giveToken)
	a.mux.HandleFunc("POST "+graphqlPath, a.graphql)
	return a
}

func (a *api) answer(answer *httptest.ResponseRecorder, req *http.Request, _ []byte) {
	a.mux.ServeHTTP(answer, req)
	if answer.Code == http.StatusNotFound && answer.Header().Get("Content-Type") != jsonType {
		// The mux's own answer: an address that the fake does not know.
		answer.Body.Reset()
		fail(answer, http.StatusNotFound, "Not Found")
	}
}

const jsonType = "application/json; charset=utf-8"

type object = hostfake.Object

var value = hostfake.Value

func reply(w http.ResponseWriter, status int, body any) { hostfake.Reply(w, jsonType, status, body) }

// fail answers in the format of GitHub's errors.
func fail(w http.ResponseWriter, status int, message string, errs ...object) {
	body := object{"message": message, "documentation_url": "https://docs.github.com/rest"}
	if len(errs) > 0 {
		body["errors"] = errs
	}
	reply(w, status, body)
}

// invalid answers 422 with one error.
func invalid(w http.ResponseWriter, resource, field, message string) {
	e := object{"resource": resource, "code": "custom", "message": message}
	if field != "" {
		e["field"] = field
	}
	fail(w, http.StatusUnprocessableEntity, "Validation Failed", e)
}

// decode parses the body of a request, or answers with an error.
func decode(w http.ResponseWriter, req *http.Request, into any) bool {
	if err := json.NewDecoder(req.Body).Decode(into); err != nil {
		fail(w, http.StatusBadRequest, "Problems parsing JSON")
		return false
	}
	return true
}
