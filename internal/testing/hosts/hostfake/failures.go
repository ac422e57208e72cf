package hostfake

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"
)

// Failure is how a request to the API fails.
type Failure struct {
	Status int               // 0: the normal status
	Header map[string]string // of the answer
	Body   string            // of the answer
	Drop   bool              // breaks the connection instead of answering
	Delay  time.Duration     // before the answer
	After  bool              // the request takes effect first
}

// Dropped breaks the connection before the request takes effect.
func Dropped() Failure { return Failure{Drop: true} }

// AnswerLost breaks the connection once the request has taken effect.
func AnswerLost() Failure { return Failure{Drop: true, After: true} }

// Slow delays the normal answer.
func Slow(by time.Duration) Failure { return Failure{Delay: by, After: true} }

type failing struct {
	Failure
	method, path string
	times        int
}

type hook struct {
	method, path string
	run          func() bool
}

// Fail makes the next requests fail that have the method ("" matches all) and whose path contains the text. A negative
// number of times means forever. The first matching failure applies.
func (s *Server) Fail(method, path string, times int, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, &failing{f, method, path, times})
}

// ClearFailures removes all failures.
func (s *Server) ClearFailures() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = nil
}

// HasDelayed reports whether a request is currently delayed.
func (s *Server) HasDelayed() bool { return s.waiting.Load() > 0 }

// Before runs f before requests with the method ("" matches all) whose path contains the text, until f returns true. f
// may use the server.
func (s *Server) Before(method, path string, f func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = append(s.before, &hook{method, path, f})
}

// runBefore runs the hooks for a request.
func (s *Server) runBefore(r *Request) {
	s.mu.Lock()
	hooks := slices.Clone(s.before)
	s.mu.Unlock()
	for _, h := range hooks {
		if !matches(r, h.method, h.path) || !h.run() {
			continue
		}
		s.mu.Lock()
		s.before = slices.DeleteFunc(s.before, func(o *hook) bool { return o == h })
		s.mu.Unlock()
	}
}

func matches(r *Request, method, path string) bool {
	return (method == "" || method == r.Method) && strings.Contains(r.Path, path)
}

func (s *Server) failureFor(r *Request) *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.failures {
		if f.times != 0 && matches(r, f.method, f.path) {
			f.times--
			return &f.Failure
		}
	}
	return nil
}

// fail writes a failure into the answer, and reports whether to send the answer.
func (s *Server) fail(req *http.Request, f *Failure, answer *httptest.ResponseRecorder) bool {
	if f.Delay > 0 {
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
		select {
		case <-time.After(f.Delay):
		case <-req.Context().Done():
		}
	}
	if f.Drop {
		return false
	}
	if f.Status != 0 {
		if s.host.FailureType != "" {
			answer.Header().Set("Content-Type", s.host.FailureType)
		}
		answer.Code = f.Status
		answer.Body.Reset()
		answer.Body.WriteString(f.Body)
	}
	for name, value := range f.Header {
		answer.Header().Set(name, value)
	}
	return true
}
