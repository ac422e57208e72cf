package gitserver

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Option changes a [Server].
type Option func(*Server)

// WithBasic lets in whoever shows this user and password.
func WithBasic(user, password string) Option {
	return func(s *Server) { s.user, s.password = user, password }
}

// WithBearer lets in whoever shows this token.
func WithBearer(token string) Option {
	return func(s *Server) { s.bearer = token }
}

// WithTLS serves HTTPS with a certificate of an authority of its own; see
// [Server.CA].
func WithTLS() Option {
	return func(s *Server) { s.tls = true }
}

// WithFilter lets clients leave objects out (uploadpack.allowFilter).
func WithFilter() Option {
	return func(s *Server) { s.config = append(s.config, "uploadpack.allowFilter=true") }
}

// WithProtocolV0 has the server speak the older protocol alone.
func WithProtocolV0() Option {
	return func(s *Server) { s.v0 = true }
}

// WithRedirect answers every request with a redirect to the same path below
// another URL.
func WithRedirect(to string) Option {
	return func(s *Server) { s.redirect = to }
}

// WithPushDenied answers every push with 403.
func WithPushDenied() Option {
	return func(s *Server) { s.pushDenied = true }
}

// Server is git http-backend on loopback. Its repositories are the folders
// below Root.
type Server struct {
	URL  string // http(s)://127.0.0.1:port
	CA   string // PEM of its authority, with [WithTLS]
	Root string // of its repositories

	user, password, bearer, redirect string
	tls, v0, pushDenied              bool
	config                           []string

	mu     sync.Mutex
	log    []Request
	before func()
	faults []*Fault
}

// Request is one request that the server got.
type Request struct {
	Method        string
	Service       string // git-upload-pack or git-receive-pack
	Path          string
	Authorization string
	Sent, Got     int64 // bytes of the bodies: of the answer, of the request
}

// New starts a server for the repositories below root.
func New(t testing.TB, root string, options ...Option) *Server {
	t.Helper()
	s, handler := Handler(t, root, options...)
	server := httptest.NewUnstartedServer(handler)
	if s.tls {
		server.StartTLS()
		s.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	} else {
		server.Start()
	}
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.URL = server.URL
	return s
}

// Handler is a server without a listener of its own, for one that serves more
// than Git. Its URL is empty, and [WithTLS] is for the listener to do.
func Handler(t testing.TB, root string, options ...Option) (*Server, http.Handler) {
	t.Helper()
	s := &Server{Root: root}
	for _, o := range options {
		o(s)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is not installed: apt-get install git")
	}
	return s, s.handler(git)
}

// Serve starts a server for one bare repository and gives the URL of that.
func Serve(t testing.TB, repo string, options ...Option) (*Server, string) {
	t.Helper()
	s := New(t, filepath.Dir(repo), options...)
	return s, s.URL + "/" + filepath.Base(repo)
}

// Requests are all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Reads is how many requests to read there were so far: references looked up,
// and fetches.
func (s *Server) Reads() int {
	reads := 0
	for _, r := range s.Requests() {
		if r.Method == http.MethodPost && r.Service == "git-upload-pack" {
			reads++
		}
	}
	return reads
}

// Forget empties the log.
func (s *Server) ResetLog() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

// BeforeReceive runs f once, just before the next pack is received.
func (s *Server) BeforeReceive(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

func (s *Server) handler(git string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		counted := &counter{ResponseWriter: w}
		entry := Request{
			Method: req.Method, Service: service(req), Path: req.URL.Path,
			Authorization: req.Header.Get("Authorization"), Got: req.ContentLength,
		}
		defer func() {
			entry.Sent = counted.n
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log = append(s.log, entry)
		}()
		switch {
		case s.redirect != "":
			http.Redirect(counted, req, s.redirect+req.URL.RequestURI(), http.StatusFound)
			return
		case !s.lets(req):
			counted.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(counted, "who are you?", http.StatusUnauthorized)
			return
		case s.pushDenied && service(req) == "git-receive-pack":
			http.Error(counted, "this token may not write", http.StatusForbidden)
			return
		}
		if req.Method == http.MethodPost && service(req) == "git-receive-pack" {
			s.receiving()
		}
		if err := spool(req); err != nil {
			http.Error(counted, err.Error(), http.StatusBadRequest)
			return
		}
		backend := s.backend(git)
		if fault := s.fault(req); fault != nil {
			fault.answer(counted, req, backend)
			return
		}
		backend.ServeHTTP(counted, req)
	})
}

// spool gives a body of unknown length its length, as a CGI program wants it.
func spool(req *http.Request) error {
	if req.ContentLength >= 0 {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body, req.ContentLength, req.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return err
}

// receiving runs what a test asked for, outside of the lock.
func (s *Server) receiving() {
	s.mu.Lock()
	before := s.before
	s.before = nil
	s.mu.Unlock()
	if before != nil {
		before()
	}
}

func (s *Server) lets(req *http.Request) bool {
	switch {
	case s.user != "":
		user, password, _ := req.BasicAuth()
		return user == s.user && password == s.password
	case s.bearer != "":
		return req.Header.Get("Authorization") == "Bearer "+s.bearer
	}
	return true
}

func (s *Server) backend(git string) *cgi.Handler {
	env := append(slices.Clone(hermetic), "GIT_PROJECT_ROOT="+s.Root, "GIT_HTTP_EXPORT_ALL=1")
	args := []string{}
	for _, c := range s.config {
		args = append(args, "-c", c)
	}
	h := &cgi.Handler{Path: git, Args: append(args, "http-backend"), Env: env, InheritEnv: []string{"PATH"}, Stderr: io.Discard}
	if s.v0 {
		h.Env = append(h.Env, "HTTP_GIT_PROTOCOL=")
	}
	return h
}

func service(req *http.Request) string {
	for _, name := range []string{"git-upload-pack", "git-receive-pack"} {
		if strings.HasSuffix(req.URL.Path, "/"+name) || req.URL.Query().Get("service") == name {
			return name
		}
	}
	return ""
}

// counter counts what is sent.
type counter struct {
	http.ResponseWriter
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n += int64(n)
	return n, err
}
