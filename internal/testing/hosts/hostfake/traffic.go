package hostfake

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// Request is one request to the API.
type Request struct {
	Method        string
	Path          string // below the root of the API
	Query         string
	Authorization string
	Body          string
	Status        int // 0 where the connection was dropped
}

// Traffic is the requests to an API: their log, and those that fail or for which a test waits.
type Traffic struct {
	// Check returns an error for a request that the API does not have; nil: the answer says so.
	Check func(Request) error

	mu         sync.Mutex
	failures   []*failing
	before     []hook
	log        []Request
	waiting    atomic.Int32 // requests that a failure delays
	open, most int          // requests that are not answered yet
}

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
func (tr *Traffic) Fail(method, path string, times int, f Failure) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.failures = append(tr.failures, &failing{f, method, path, times})
}

// ClearFailures removes all failures.
func (tr *Traffic) ClearFailures() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.failures = nil
}

// HasDelayed reports whether a request is currently delayed.
func (tr *Traffic) HasDelayed() bool { return tr.waiting.Load() > 0 }

// Before runs f before requests with the method ("" matches all) whose path contains the text, until f returns true. f
// may use the server.
func (tr *Traffic) Before(method, path string, f func() bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.before = append(tr.before, hook{method, path, f})
}

// Once runs f before the next such request.
func (tr *Traffic) Once(method, path string, f func()) {
	tr.Before(method, path, func() bool { f(); return true })
}

// RunBefore runs the functions of [Traffic.Before] for a request.
func (tr *Traffic) RunBefore(method, path string) {
	tr.mu.Lock()
	var due []hook
	tr.before = slices.DeleteFunc(tr.before, func(h hook) bool {
		matches := (h.method == "" || h.method == method) && strings.Contains(path, h.path)
		if matches {
			due = append(due, h)
		}
		return matches
	})
	tr.mu.Unlock()
	for _, h := range due {
		if !h.run() {
			tr.Before(h.method, h.path, h.run)
		}
	}
}

// Requests returns all requests so far, in the order of their answers.
func (tr *Traffic) Requests() []Request {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.log)
}

// ResetLog clears the log.
func (tr *Traffic) ResetLog() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.log = nil
}

// HasAnswered reports whether the API has answered a request with the method whose path contains the text.
func (tr *Traffic) HasAnswered(method, path string) bool {
	return slices.ContainsFunc(tr.Requests(), func(r Request) bool {
		return r.Method == method && strings.Contains(r.Path, path)
	})
}

// MostAtOnce is the largest number of requests at the same time.
func (tr *Traffic) MostAtOnce() int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.most
}

// answer is how an API answers a request, whose body was read.
type answer func(answer *httptest.ResponseRecorder, req *http.Request, body []byte)

// Serve answers a request with a path as the log shows it, unless the request fails.
func (tr *Traffic) Serve(w http.ResponseWriter, req *http.Request, path string, answered answer) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	entry := Request{
		Method: req.Method, Path: path, Query: req.URL.RawQuery, Authorization: req.Header.Get("Authorization"),
		Body: string(body),
	}
	tr.enter(1)
	defer tr.enter(-1)
	tr.RunBefore(entry.Method, entry.Path)
	recorder := httptest.NewRecorder()
	failure := tr.failureFor(&entry)
	var wrong error
	if tr.Check != nil {
		wrong = tr.Check(entry)
	}
	switch {
	case wrong != nil:
		failure = &Failure{Status: http.StatusNotImplemented, Body: fmt.Sprintf(`{"message": %q}`, wrong)}
	case failure == nil || failure.After:
		answered(recorder, req, body)
	}
	if failure != nil && !tr.fail(req, failure, recorder) {
		tr.record(entry)
		panic(http.ErrAbortHandler)
	}
	entry.Status = recorder.Code
	tr.record(entry)
	for name, values := range recorder.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorder.Code)
	_, _ = recorder.Body.WriteTo(w)
}

func (tr *Traffic) enter(by int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.open += by
	tr.most = max(tr.most, tr.open)
}

func (tr *Traffic) record(entry Request) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.log = append(tr.log, entry)
}

func (tr *Traffic) failureFor(r *Request) *Failure {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, f := range tr.failures {
		if f.times != 0 && (f.method == "" || f.method == r.Method) && strings.Contains(r.Path, f.path) {
			f.times--
			return &f.Failure
		}
	}
	return nil
}

// fail writes a failure into the answer, and reports whether to send the answer.
func (tr *Traffic) fail(req *http.Request, f *Failure, answer *httptest.ResponseRecorder) bool {
	if f.Delay > 0 {
		tr.waiting.Add(1)
		defer tr.waiting.Add(-1)
		select {
		case <-time.After(f.Delay):
		case <-req.Context().Done():
		}
	}
	if f.Drop {
		return false
	}
	if f.Status != 0 {
		answer.Header().Set("Content-Type", "application/json; charset=utf-8")
		answer.Header().Del("Content-Length")
		answer.Code = f.Status
		answer.Body.Reset()
		answer.Body.WriteString(f.Body)
	}
	for name, value := range f.Header {
		answer.Header().Set(name, value)
	}
	return true
}
