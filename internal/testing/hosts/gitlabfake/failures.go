package gitlabfake

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
)

// Failure is how a request to the API fails.
type Failure struct {
	Status int               // 0: the normal status
	Header map[string]string // of the answer
	Body   string            // of the answer
	Drop   bool              // breaks the connection instead of answering
	After  bool              // the request takes effect first
}

type failing struct {
	Failure
	method, path string
	times        int
}

// Fail makes the next requests fail that have the method ("" matches all) and whose path contains the text. A negative
// number of times means forever. The first matching failure applies.
func (s *Server) Fail(method, path string, times int, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, &failing{f, method, path, times})
}

func (s *Server) failureFor(r *Request) *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.failures {
		if f.times != 0 && (f.method == "" || f.method == r.Method) && strings.Contains(r.Path, f.path) {
			f.times--
			return &f.Failure
		}
	}
	return nil
}

// answer writes the failure into the answer, and reports whether to send one.
func (f *Failure) answer(w *httptest.ResponseRecorder) bool {
	if f.Drop {
		return false
	}
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	if f.Status != 0 {
		w.Code = f.Status
		w.Body.Reset()
		w.Body.WriteString(f.Body)
	}
	return true
}

// Before runs f before requests with the method whose path contains the text, until f returns true. f may use the
// server.
func (s *Server) Before(method, path string, f func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = append(s.before, &hook{method, path, f})
}

type hook struct {
	method, path string
	run          func() bool
}

// runBefore runs the hooks for a request.
func (s *Server) runBefore(r *Request) {
	s.mu.Lock()
	hooks := slices.Clone(s.before)
	s.mu.Unlock()
	for _, h := range hooks {
		if h.method != r.Method || !strings.Contains(r.Path, h.path) || !h.run() {
			continue
		}
		s.mu.Lock()
		s.before = slices.DeleteFunc(s.before, func(o *hook) bool { return o == h })
		s.mu.Unlock()
	}
}

// RateLimit returns GitLab's answer to requests that come too fast: plain text, with the seconds to wait (docs).
func RateLimit(retryAfter int) Failure {
	return Failure{Status: http.StatusTooManyRequests, Body: "Retry later\n",
		Header: map[string]string{"Content-Type": "text/plain", "Retry-After": strconv.Itoa(retryAfter)}}
}

// Error returns an answer with a status and a message.
func Error(status int, message string) Failure {
	return Failure{Status: status, Body: fmt.Sprintf(`{"message":%q}`, message)}
}

// Dropped breaks the connection before the request takes effect.
func Dropped() Failure { return Failure{Drop: true} }

// AnswerLost breaks the connection once the request has taken effect.
func AnswerLost() Failure { return Failure{Drop: true, After: true} }
