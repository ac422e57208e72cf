package gitserver

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Option configures a [Server].
type Option func(*Server)

// WithBasic makes the server require this user and password.
func WithBasic(user, password string) Option {
	return func(s *Server) {
		s.authorizes = func(req *http.Request) bool {
			u, p, _ := req.BasicAuth()
			return u == user && p == password
		}
	}
}

// WithBearer makes the server require this token.
func WithBearer(token string) Option {
	return func(s *Server) {
		s.authorizes = func(req *http.Request) bool { return req.Header.Get("Authorization") == "Bearer "+token }
	}
}

// WithBearerPrefix makes the server require a token that begins with this text.
func WithBearerPrefix(prefix string) Option {
	return func(s *Server) {
		s.authorizes = func(req *http.Request) bool {
			return strings.HasPrefix(req.Header.Get("Authorization"), "Bearer "+prefix)
		}
	}
}

// WithTLS makes the server use HTTPS, with a certificate from an authority of its own; see [Server.CA].
func WithTLS() Option {
	return func(s *Server) { s.tls = true }
}

// WithFilter makes the server support filters (uploadpack.allowFilter).
func WithFilter() Option {
	return func(s *Server) { s.config = append(s.config, "uploadpack.allowFilter=true") }
}

// WithProtocolV0 makes the server offer only protocol version 0.
func WithProtocolV0() Option {
	return func(s *Server) { s.v0 = true }
}

// WithRedirect makes the server redirect every request to the same path below another URL.
func WithRedirect(to string) Option {
	return func(s *Server) { s.redirect = to }
}

// WithPushDenied makes the server answer every push with 403.
func WithPushDenied() Option {
	return func(s *Server) {
		s.Fail(Fault{Service: "git-receive-pack", Times: -1, Status: http.StatusForbidden,
			Body: []byte("this token may not write\n")})
	}
}

// Server is git http-backend on loopback. Its repositories are the folders below Root.
type Server struct {
	URL  string // http(s)://127.0.0.1:port
	CA   string // the certificate of the server's authority in PEM, with [WithTLS]
	Root string // the folder with the repositories

	Azure *AzureRepos // set by [Azure]; if it is nil, the server behaves as git does

	authorizes func(*http.Request) bool
	redirect   string
	tls, v0    bool
	config     []string
	inProcess  *inProcess // set by [InProcess]; if it is nil, git http-backend serves

	answering sync.RWMutex // is read-locked while an answer has not ended
	mu        sync.Mutex
	log       []Request
	before    once
	faults    []*Fault
}

// Request is one request to the server.
type Request struct {
	Method        string
	Service       string // git-upload-pack or git-receive-pack
	Path          string
	Authorization string
	Sent, Got     int64 // the number of bytes in the bodies of the answer and the request
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

// Handler returns a server without a listener, and its handler, for a listener that serves more than Git. The server's
// URL is empty, and [WithTLS] has no effect.
func Handler(t testing.TB, root string, options ...Option) (*Server, http.Handler) {
	t.Helper()
	s := &Server{Root: root, authorizes: func(*http.Request) bool { return true }}
	for _, o := range options {
		o(s)
	}
	return s, s.handler(s.backend(t))
}

// gitFolder asks Git only once for the folder of its programs.
var gitFolder = sync.OnceValues(func() ([]byte, error) {
	cmd := exec.Command("git", "--exec-path")
	cmd.Env = Env()
	return cmd.Output()
})

// Serve starts a server for one bare repository, and returns the repository's URL.
func Serve(t testing.TB, repo string, options ...Option) (*Server, string) {
	t.Helper()
	s := New(t, filepath.Dir(repo), options...)
	folder := "/"
	if s.Azure != nil {
		folder = azureFolder
	}
	return s, s.URL + folder + filepath.Base(repo)
}

// Requests returns all requests so far. It waits until the server has answered them, since a Git client may finish
// before the answer ends.
func (s *Server) Requests() []Request {
	s.answering.Lock()
	defer s.answering.Unlock()
	return slices.Clone(s.log)
}

// Reads returns the number of requests so far that read: lookups of references, and fetches.
func (s *Server) Reads() int {
	reads := 0
	for _, r := range s.Requests() {
		if r.Method == http.MethodPost && r.Service == "git-upload-pack" {
			reads++
		}
	}
	return reads
}

// ResetLog clears the log of requests. It waits until the server has answered them.
func (s *Server) ResetLog() {
	s.answering.Lock()
	defer s.answering.Unlock()
	s.log = nil
}

// BeforeReceive makes the server call f once, just before it receives the next pack.
func (s *Server) BeforeReceive(f func()) { s.before.set(f) }

func (s *Server) handler(backend http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.answering.RLock()
		defer s.answering.RUnlock()
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
		case !s.authorizes(req) && s.Azure != nil:
			signIn(counted)
			return
		case !s.authorizes(req):
			counted.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(counted, "who are you?", http.StatusUnauthorized)
			return
		}
		if req.Method == http.MethodPost && service(req) == "git-receive-pack" {
			s.before.run()
		}
		if err := spool(req); err != nil {
			http.Error(counted, err.Error(), http.StatusBadRequest)
			return
		}
		if fault := s.fault(req); fault != nil {
			fault.answer(counted, req, backend)
			return
		}
		backend.ServeHTTP(counted, req)
	})
}

// spool buffers a body of unknown length, since a CGI program needs the length.
func spool(req *http.Request) error {
	if req.ContentLength >= 0 {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body, req.ContentLength, req.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return err
}

// once runs a function once.
type once struct{ f atomic.Pointer[func()] }

func (o *once) set(f func()) { o.f.Store(&f) }

func (o *once) run() {
	if f := o.f.Swap(nil); f != nil {
		(*f)()
	}
}

// backend returns the handler that serves Git.
func (s *Server) backend(t testing.TB) http.Handler {
	t.Helper()
	switch {
	case s.inProcess != nil:
		git := s.httpBackend(t)
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { s.inProcess.serve(s, w, req, git) })
	case s.Azure != nil:
		git := s.httpBackend(t)
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { s.Azure.serve(w, req, s.Root, git) })
	}
	return s.httpBackend(t)
}

// httpBackend returns the handler that runs git http-backend. It runs the program itself and not through the git
// command, which would start another process.
func (s *Server) httpBackend(t testing.TB) *cgi.Handler {
	t.Helper()
	folder, err := gitFolder()
	if err != nil {
		t.Fatalf("git --exec-path: %v", err)
	}
	env := append(slices.Clone(hermetic), "GIT_PROJECT_ROOT="+s.Root, "GIT_HTTP_EXPORT_ALL=1",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", 1+len(s.config)))
	for i, c := range s.config {
		key, value, _ := strings.Cut(c, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", 1+i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", 1+i, value))
	}
	program := filepath.Join(strings.TrimSpace(string(folder)), "git-http-backend")
	h := &cgi.Handler{Path: program, Env: env, InheritEnv: []string{"PATH"}, Stderr: io.Discard}
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

// counter counts the bytes that are sent.
type counter struct {
	http.ResponseWriter
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n += int64(n)
	return n, err
}
