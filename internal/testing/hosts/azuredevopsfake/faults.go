package azuredevopsfake

import (
	"fmt"
	"net/http/httptest"
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

// fault is a failure or a hook for requests with the method ("": any) whose path contains the text.
type fault struct {
	method, path string
	times        int      // negative: always
	before       func()   // runs before the request; nil: nothing
	failure      *Failure // nil: none
}

// Fail makes the next requests fail that have the method ("" matches all) and whose path contains the text. A negative
// number of times means forever. The first matching failure applies.
func (s *Server) Fail(method, path string, times int, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &fault{method, path, times, nil, &f})
}

// Before runs f before the next request with the method whose path contains the text. f may use the server.
func (s *Server) Before(method, path string, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &fault{method, path, 1, f, nil})
}

// faultFor runs the hooks for a request, and returns its failure; nil: it does not fail.
func (s *Server) faultFor(r *Request) *Failure {
	var run []func()
	var failure *Failure
	s.mu.Lock()
	for _, f := range s.faults {
		matches := f.times != 0 && (f.method == "" || f.method == r.Method) && strings.Contains(r.Path, f.path)
		switch {
		case !matches:
		case f.before != nil:
			f.times--
			run = append(run, f.before)
		case failure == nil:
			f.times--
			failure = f.failure
		}
	}
	s.mu.Unlock()
	for _, f := range run {
		f()
	}
	return failure
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

// Error returns an answer with a status, and a message and a key of Azure's.
func Error(status int, key, message string) Failure {
	return Failure{Status: status, Body: fmt.Sprintf(`{"message":%q,"typeKey":%q}`, message, key)}
}

// SignIn returns Azure's answer to a credential that it does not accept: a page to sign in (peer).
func SignIn() Failure {
	return Failure{Status: 203, Header: map[string]string{"Content-Type": "text/html; charset=utf-8"},
		Body: "<html><title>Azure DevOps Services | Sign In</title></html>"}
}
