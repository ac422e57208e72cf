// Package hostfake has what the fakes of Git hosts share: one listener for Git and for an API, with a log of the
// requests to the API, with failures and hooks, tokens, and bare repos with pull requests, statuses and issues that
// people and the API change. A fake adds the host's rules and formats.
package hostfake

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Host has the parts of a fake in which hosts differ.
type Host struct {
	// APIPath returns the path of a request to the API, as the log shows it; false: the request is one of Git.
	APIPath func(req *http.Request) (path string, isAPI bool)
	// Answer answers a request to the API, while nothing else changes the repos.
	Answer func(answer *httptest.ResponseRecorder, req *http.Request, body []byte)
	// GitToken returns the token of a request of Git, and its permission for the repo, which is the path below the server
	// without .git.
	GitToken func(req *http.Request, repo string) (*Token, Access)
	// GitErrors are the texts of Git's errors by status: 401, 403 and 404. They may have {repo} and {login}.
	GitErrors map[int]string
	// Header has headers of each answer that does not set them.
	Header     map[string]string
	GitOptions []gitserver.Option
	// Token has all rights. Its user is [BotLogin].
	Token  string
	Folder string // of the server's URL, such as /git; "": none
	Now    func() time.Time
	Lag    int // see [WithLag]
}

// Option changes a [Host].
type Option func(*Host)

// WithClock sets the clock of all times.
func WithClock(now func() time.Time) Option { return func(h *Host) { h.Now = now } }

// WithGitBackend serves Git with git http-backend, as any client of Git needs it.
func WithGitBackend() Option {
	return func(h *Host) { h.GitOptions = []gitserver.Option{gitserver.WithFilter()} }
}

// WithFolder serves everything below a folder, such as /git.
func WithFolder(folder string) Option { return func(h *Host) { h.Folder = folder } }

// WithLag makes the API show a push, and what follows from it, only after this number of requests about a pull request:
// some hosts do that in the background.
func WithLag(requests int) Option { return func(h *Host) { h.Lag = requests } }

// BotLogin is the user of [Server.Token].
const BotLogin = "kalypso-bot"

// Server is a fake host on loopback.
type Server struct {
	Traffic
	URL   string            // http://127.0.0.1:port, with the folder
	Git   *gitserver.Server // the Git side, with its log and its faults
	Token string            // may read and write all repos, as [BotLogin]

	Host Host // with what its options changed

	root string
	git  http.Handler

	state  sync.Mutex // of the repos and the tokens
	tokens map[string]*Token
}

// Start starts a server without repos.
func Start(t testing.TB, host Host, options ...Option) *Server {
	t.Helper()
	host.Now = time.Now
	for _, o := range options {
		o(&host)
	}
	s := &Server{
		Token: host.Token, Host: host, root: t.TempDir(),
		tokens: map[string]*Token{host.Token: {Login: BotLogin, Repos: Everywhere(Write)}},
	}
	s.Git, s.git = gitserver.Handler(t, s.root, host.GitOptions...)
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.URL = server.URL + host.Folder
	return s
}

// Locked runs a function while nothing else changes the repos and the tokens.
func (s *Server) Locked(f func()) {
	s.state.Lock()
	defer s.state.Unlock()
	f()
}

// Now is the time of the server's clock.
func (s *Server) Now() time.Time { return s.Host.Now() }

// ResetLog clears the logs of the API and of Git.
func (s *Server) ResetLog() {
	s.Traffic.ResetLog()
	s.Git.ResetLog()
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	if !strings.HasPrefix(req.URL.Path, s.Host.Folder) {
		http.NotFound(w, req)
		return
	}
	path, isAPI := s.Host.APIPath(req)
	if !isAPI {
		s.serveGit(w, req)
		return
	}
	w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
	for name, value := range s.Host.Header {
		w.Header().Set(name, value)
	}
	s.Serve(w, req, path, func(answer *httptest.ResponseRecorder, req *http.Request, body []byte) {
		s.Locked(func() { s.Host.Answer(answer, req, body) })
	})
}

// serveGit serves Git, as the API with the permissions of tokens.
func (s *Server) serveGit(w http.ResponseWriter, req *http.Request) {
	repo := strings.TrimPrefix(req.URL.Path, "/")
	for _, end := range []string{"/info/refs", "/git-receive-pack", "/git-upload-pack", ".git"} {
		repo = strings.TrimSuffix(repo, end)
	}
	var t *Token
	var access Access
	s.Locked(func() { t, access = s.Host.GitToken(req, repo) })
	var refused int
	switch {
	case t == nil:
		w.Header().Set("WWW-Authenticate", `Basic realm="`+s.URL+`"`)
		t, refused = &Token{}, http.StatusUnauthorized
	case access == None:
		refused = http.StatusNotFound
	case access < Read, access < Write && isPush(req):
		refused = http.StatusForbidden
	default:
		s.git.ServeHTTP(w, req)
		return
	}
	texts := strings.NewReplacer("{repo}", repo, "{login}", t.Login)
	http.Error(w, texts.Replace(s.Host.GitErrors[refused]), refused)
}

// isPush reports whether a request of Git is a part of a push.
func isPush(req *http.Request) bool {
	return strings.HasSuffix(req.URL.Path, "/git-receive-pack") || req.URL.Query().Get("service") == "git-receive-pack"
}
