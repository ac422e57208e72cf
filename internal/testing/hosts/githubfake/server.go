// Package githubfake is a fake GitHub Enterprise server for tests: Git over HTTP, the REST API below /api/v3/ and
// GraphQL at /api/graphql, on one listener. Its repositories are real ones, served by git http-backend. The API reads
// and writes their refs, so that a pull request's head follows its branch, and a merge is a merge in Git.
//
// It only implements what this provider uses, as GitHub does, and can fail as GitHub fails.
package githubfake

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

const (
	restPrefix  = "/api/v3"
	graphqlPath = "/api/graphql"
)

// Server is a GitHub on loopback.
type Server struct {
	URL   string            // http://127.0.0.1:port, also the base_url of the API
	Token string            // opens every repo, for reading and writing
	Git   *gitserver.Server // the Git side, with its log and its faults

	root       string
	gitOptions []gitserver.Option
	git        http.Handler
	api        *http.ServeMux

	mu       sync.Mutex
	now      func() time.Time
	repos    map[string]*Repo // by lower-case owner/name
	tokens   map[string]*token
	apps     []*App
	failures []*failing
	before   []*hook
	waiting  atomic.Int32 // requests that a failure delays
	log      []Request
}

// Request is one request to the API.
type Request struct {
	Method        string
	Path          string // without /api/v3
	Query         string
	Authorization string
	Body          string
	Status        int // 0 where the connection was dropped
}

// Option changes a [Server].
type Option func(*Server)

// WithClock sets the clock, for the times of pull requests and the expiry of tokens.
func WithClock(now func() time.Time) Option {
	return func(s *Server) { s.now = now }
}

// WithGitBackend serves Git with git http-backend, as any client of Git needs it.
func WithGitBackend() Option {
	return func(s *Server) { s.gitOptions = []gitserver.Option{gitserver.WithFilter()} }
}

// New starts a server without repos. It serves Git to gitremote, without git processes: see [gitserver.InProcess].
func New(t testing.TB, options ...Option) *Server {
	t.Helper()
	s := &Server{
		Token: "ghp_canaryTokenOfTheFake", root: t.TempDir(), gitOptions: []gitserver.Option{gitserver.InProcess()},
		now: time.Now, repos: map[string]*Repo{}, tokens: map[string]*token{},
	}
	for _, o := range options {
		o(s)
	}
	s.tokens[s.Token] = &token{login: "kalypso-bot", everywhere: Write}
	s.Git, s.git = gitserver.Handler(t, s.root, s.gitOptions...)
	s.api = http.NewServeMux()
	s.routePulls()
	s.routeIssues()
	s.routeStatuses()
	s.routeApps()
	s.api.HandleFunc("POST "+graphqlPath, s.graphql)
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.URL = server.URL
	return s
}

// Requests returns all requests to the API so far, in the order of their answers.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// ResetLog clears the logs of the API and of Git.
func (s *Server) ResetLog() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
	s.Git.ResetLog()
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	if !strings.HasPrefix(req.URL.Path, "/api/") {
		s.serveGit(w, req)
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	entry := Request{
		Method: req.Method, Path: strings.TrimPrefix(req.URL.Path, restPrefix), Query: req.URL.RawQuery,
		Authorization: req.Header.Get("Authorization"), Body: string(body),
	}
	s.runBefore(&entry)
	answer := httptest.NewRecorder()
	failure := s.failureFor(&entry)
	if failure == nil || failure.After {
		s.mu.Lock()
		s.api.ServeHTTP(answer, req)
		s.mu.Unlock()
	}
	if failure != nil && failure.Delay > 0 {
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
	}
	if failure != nil && !failure.answer(req, answer) {
		s.record(entry)
		panic(http.ErrAbortHandler)
	}
	if answer.Code == http.StatusNotFound && answer.Header().Get("Content-Type") != jsonType {
		// The mux's own answer: an address that the fake does not know.
		answer = httptest.NewRecorder()
		fail(answer, http.StatusNotFound, "Not Found")
	}
	entry.Status = answer.Code
	s.record(entry)
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	if w.Header().Get("Date") == "" {
		w.Header().Set("Date", s.now().UTC().Format(http.TimeFormat))
	}
	if w.Header().Get("X-RateLimit-Remaining") == "" {
		w.Header().Set("X-RateLimit-Remaining", "4999")
	}
	w.WriteHeader(answer.Code)
	_, _ = answer.Body.WriteTo(w)
}

func (s *Server) record(entry Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, entry)
}

const jsonType = "application/json; charset=utf-8"

// object is a JSON object.
type object = map[string]any

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

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
