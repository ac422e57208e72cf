package githubfake

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
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

type failing struct {
	Failure
	method, path string
	times        int
}

// Fail makes the next requests fail that have the method ("" matches all) and whose path contains the text. A
// negative number of times means forever. The first matching failure applies.
func (s *Server) Fail(method, path string, times int, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, &failing{f, method, path, times})
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

// ClearFailures removes all failures.
func (s *Server) ClearFailures() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = nil
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
func (f *Failure) answer(req *http.Request, w *httptest.ResponseRecorder) bool {
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-req.Context().Done():
		}
	}
	if f.Drop {
		return false
	}
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	if f.Status != 0 {
		w.Header().Set("Content-Type", jsonType)
		w.Code = f.Status
		w.Body.Reset()
		w.Body.WriteString(f.Body)
	}
	return true
}

// PrimaryRateLimit returns GitHub's answer to a token whose requests of the hour are used up: 403 or 429.
func PrimaryRateLimit(status int, reset time.Time) Failure {
	return Failure{Status: status,
		Body: `{"message":"API rate limit exceeded for user ID 1. If you reach out to GitHub Support for help, ` +
			`please include the request ID.",` +
			`"documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"}`,
		Header: map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0",
			"X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10)}}
}

// SecondaryRateLimit returns GitHub's answer to requests that come too fast: 403 or 429, with the seconds to wait, or
// none (0).
func SecondaryRateLimit(status, retryAfter int) Failure {
	f := ServerError(status, retryAfter)
	const page = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"
	f.Body = `{"documentation_url":"` + page + `",` +
		`"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`
	return f
}

// ServerError returns an answer with a status and the seconds to wait, or none (0).
func ServerError(status, retryAfter int) Failure {
	f := Failure{Status: status, Body: fmt.Sprintf(`{"message":%q}`, http.StatusText(status)), Header: map[string]string{}}
	if retryAfter > 0 {
		f.Header["Retry-After"] = strconv.Itoa(retryAfter)
	}
	return f
}

// Forbidden returns a 403 with this message, which no retry fixes.
func Forbidden(message string) Failure {
	return Failure{Status: http.StatusForbidden,
		Body: fmt.Sprintf(`{"message":%q,"documentation_url":"https://docs.github.com/rest"}`, message)}
}

// HeadNotSeen returns GitHub's rejection of a pull request whose branch it does not know yet, just after a push.
func HeadNotSeen() Failure {
	return Failure{Status: http.StatusUnprocessableEntity,
		Body: `{"message":"Validation Failed","errors":[{"resource":"PullRequest","field":"head","code":"invalid"}]}`}
}

// HeadNotMoved returns GitHub's rejection of a merge of a commit that it does not consider the head.
func HeadNotMoved() Failure {
	return Failure{Status: http.StatusConflict,
		Body: `{"message":"Head branch was modified. Review and try the merge again."}`}
}

// BaseMoved returns GitHub's rejection of a merge into a branch whose last push it has not processed yet.
func BaseMoved() Failure {
	return Failure{Status: http.StatusMethodNotAllowed,
		Body: `{"message":"Base branch was modified. Review and try the merge again."}`}
}

// Dropped breaks the connection before the request takes effect.
func Dropped() Failure { return Failure{Drop: true} }

// AnswerLost breaks the connection once the request has taken effect.
func AnswerLost() Failure { return Failure{Drop: true, After: true} }

// Slow delays the normal answer.
func Slow(by time.Duration) Failure { return Failure{Delay: by, After: true} }

// HasDelayed reports whether a request is currently delayed.
func (s *Server) HasDelayed() bool { return s.waiting.Load() > 0 }

// HasAnswered reports whether the API has answered a request with the method whose path contains the text.
func (s *Server) HasAnswered(method, path string) bool {
	for _, r := range s.Requests() {
		if r.Method == method && strings.Contains(r.Path, path) {
			return true
		}
	}
	return false
}
