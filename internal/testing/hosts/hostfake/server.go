// Package hostfake has what the fakes of Git hosts share: one listener for Git and for an API, with a log of the
// requests to the API, with failures and hooks, and bare repos that people and the API change.
package hostfake

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

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Host has the parts of a fake in which hosts differ.
type Host struct {
	// APIPath returns the path of a request to the API, as the log shows it; false: the request is one of Git.
	APIPath func(req *http.Request) (path string, isAPI bool)
	// Answer answers a request to the API.
	Answer func(answer *httptest.ResponseRecorder, req *http.Request, body []byte)
	// ServeGit authorizes a request of Git, and passes it on.
	ServeGit func(w http.ResponseWriter, req *http.Request, git http.Handler)
	// Header has headers of each answer that does not set them.
	Header map[string]string
	// FailureType is the content type of failures that do not set one; "": Go guesses it.
	FailureType string
	Now         func() time.Time
	GitOptions  []gitserver.Option
}

// Server is a fake host on loopback.
type Server struct {
	URL string            // http://127.0.0.1:port, with the folder of the fake
	Git *gitserver.Server // the Git side, with its log and its faults

	host Host
	root string
	git  http.Handler

	mu         sync.Mutex
	failures   []*failing
	before     []*hook
	log        []Request
	waiting    atomic.Int32 // requests that a failure delays
	open, most int          // requests that are not answered yet
}

// Request is one request to the API.
type Request struct {
	Method        string
	Path          string // below the root of the API
	Query         string
	Authorization string
	Body          string
	Status        int // 0 where the connection was dropped
}

// Start starts a server without repos.
func Start(t testing.TB, host Host) *Server {
	t.Helper()
	s := &Server{host: host, root: t.TempDir()}
	s.Git, s.git = gitserver.Handler(t, s.root, host.GitOptions...)
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

// HasAnswered reports whether the API has answered a request with the method whose path contains the text.
func (s *Server) HasAnswered(method, path string) bool {
	return slices.ContainsFunc(s.Requests(), func(r Request) bool {
		return r.Method == method && strings.Contains(r.Path, path)
	})
}

// MostAtOnce is the largest number of requests to the API at the same time.
func (s *Server) MostAtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

func (s *Server) enter(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += by
	s.most = max(s.most, s.open)
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	path, isAPI := s.host.APIPath(req)
	if !isAPI {
		s.host.ServeGit(w, req, s.git)
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	entry := Request{
		Method: req.Method, Path: path, Query: req.URL.RawQuery, Authorization: req.Header.Get("Authorization"),
		Body: string(body),
	}
	s.enter(1)
	defer s.enter(-1)
	s.runBefore(&entry)
	answer := httptest.NewRecorder()
	failure := s.failureFor(&entry)
	if failure == nil || failure.After {
		s.host.Answer(answer, req, body)
	}
	if failure != nil && !s.fail(req, failure, answer) {
		s.record(entry)
		panic(http.ErrAbortHandler)
	}
	entry.Status = answer.Code
	s.record(entry)
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	setIfAbsent(w.Header(), "Date", s.host.Now().UTC().Format(http.TimeFormat))
	for name, value := range s.host.Header {
		setIfAbsent(w.Header(), name, value)
	}
	w.WriteHeader(answer.Code)
	_, _ = answer.Body.WriteTo(w)
}

func setIfAbsent(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}

func (s *Server) record(entry Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, entry)
}

// Object is a JSON object.
type Object = map[string]any

// Reply answers with JSON of a content type.
func Reply(w http.ResponseWriter, contentType string, status int, body any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// Value returns the text behind a pointer, or "".
func Value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// IsPush reports whether a request of Git is a part of a push.
func IsPush(req *http.Request) bool {
	return strings.HasSuffix(req.URL.Path, "/git-receive-pack") || req.URL.Query().Get("service") == "git-receive-pack"
}
