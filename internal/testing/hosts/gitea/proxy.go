package gitea

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
)

const apiPrefix = "/api/v1"

// Request is one request of the provider to the API.
type Request struct {
	Method string
	Path   string // without /api/v1
	Query  string
	Token  string
	Body   string
	Status int // 0 if the connection was dropped
}

// Failure replaces an answer.
type Failure struct {
	// Status, Header and Body are the answer; with status 0 the connection is dropped.
	Status int
	Header http.Header
	Body   string
	// After makes Gitea serve the request first: only its answer is lost.
	After bool
}

// proxy lies in front of Gitea.
type proxy struct {
	gitea *httputil.ReverseProxy

	mu       sync.Mutex
	log      []Request
	failures []*failing
	before   []*hook
}

// hook runs before a request whose path contains a part, and the repo.
type hook struct {
	method, path, repo string
	run                func()
}

// runBefore runs the hooks of a request, each once.
func (p *proxy) runBefore(req *http.Request) {
	path := req.URL.Path
	p.mu.Lock()
	var due []*hook
	p.before = slices.DeleteFunc(p.before, func(h *hook) bool {
		if h.method != req.Method || !strings.Contains(path, h.path) || !strings.Contains(path, h.repo) {
			return false
		}
		due = append(due, h)
		return true
	})
	p.mu.Unlock()
	for _, h := range due {
		h.run()
	}
}

// failing is a failure of the next requests.
type failing struct {
	method, path, token string
	left                int
	failure             Failure
}

func newProxy(to http.RoundTripper) *proxy {
	rewrite := func(req *httputil.ProxyRequest) {
		req.Out.URL.Scheme, req.Out.URL.Host, req.Out.Host = "http", req.In.Host, req.In.Host
	}
	return &proxy{gitea: &httputil.ReverseProxy{Transport: to, Rewrite: rewrite}}
}

// Folder is a folder of the server's address below which Gitea is served too.
const Folder = "/forge"

// ServeHTTP implements [http.Handler].
func (p *proxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	req.URL.Path, req.URL.RawPath = strings.TrimPrefix(req.URL.Path, Folder), strings.TrimPrefix(req.URL.RawPath, Folder)
	p.runBefore(req)
	path, isAPI := strings.CutPrefix(req.URL.EscapedPath(), apiPrefix)
	if !isAPI {
		p.gitea.ServeHTTP(w, req)
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	entry := Request{
		Method: req.Method, Path: path, Query: req.URL.RawQuery, Body: string(body),
		Token: strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "),
	}
	failure := p.failureOf(entry)
	answer := &recorder{ResponseWriter: w, status: http.StatusOK}
	defer func() {
		entry.Status = answer.status
		p.record(entry)
	}()
	switch err := check(entry); {
	case err != nil:
		http.Error(answer, fmt.Sprintf(`{"message": %q}`, err), http.StatusNotImplemented)
	case failure == nil:
		p.gitea.ServeHTTP(answer, req)
	default:
		if failure.After {
			p.gitea.ServeHTTP(&recorder{ResponseWriter: discard{http.Header{}}}, req)
		}
		if answer.status = failure.Status; failure.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		for name, values := range failure.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(failure.Status)
		_, _ = io.WriteString(w, failure.Body)
	}
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// discard is an answer that is dropped.
type discard struct{ header http.Header }

func (d discard) Header() http.Header          { return d.header }
func (discard) Write(data []byte) (int, error) { return len(data), nil }
func (discard) WriteHeader(int)                {}

func (p *proxy) record(entry Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, entry)
}

// requests returns the requests with one of the tokens, in the order of their answers.
func (p *proxy) requests(tokens ...string) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Request
	for _, entry := range p.log {
		if slices.Contains(tokens, entry.Token) {
			all = append(all, entry)
		}
	}
	return all
}

// failureOf returns the failure of a request, or nil.
func (p *proxy) failureOf(entry Request) *Failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.failures {
		if f.left > 0 && f.token == entry.Token && (f.method == "" || f.method == entry.Method) &&
			strings.Contains(entry.Path, f.path) {
			f.left--
			return &f.failure
		}
	}
	return nil
}
