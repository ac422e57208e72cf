// Package gitlabfake is a fake GitLab server for tests: Git over HTTP and the REST API below /api/v4/, on one listener.
// Its repositories are real ones, and a merge is a merge in Git. It checks each request and each answer against
// testdata/requests.yaml.
//
// It only implements what this provider uses, as GitLab does. Where the table does not say how GitLab behaves, a
// comment says how sure we are: (source) read in GitLab's source, (docs) in its documentation, or (unsure).
package gitlabfake

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const apiPrefix = "/api/v4"

// Server is a GitLab on loopback. Its URL is also the base_url of the provider.
type Server struct {
	*hostfake.Server
	Token string // a token of kalypso-bot, who is a maintainer everywhere

	t          testing.TB
	folder     string // such as /git; "": none
	gitOptions []gitserver.Option
	lag        int

	mu       sync.Mutex
	now      func() time.Time
	projects []*Project
	users    []string // logins; the number of a user is the position, from 1
	tokens   map[string]*token
	oldMerge bool
}

// locked runs a change of the server or of a repo.
func (s *Server) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Option changes a [Server].
type Option func(*Server)

// WithClock sets the clock of all times.
func WithClock(now func() time.Time) Option { return func(s *Server) { s.now = now } }

// WithGitBackend serves Git with git http-backend, as any client of Git needs it.
func WithGitBackend() Option {
	return func(s *Server) { s.gitOptions = []gitserver.Option{gitserver.WithFilter()} }
}

// WithFolder serves everything below a folder, such as /git.
func WithFolder(folder string) Option { return func(s *Server) { s.folder = folder } }

// WithLag makes the API show a push, and finish its check whether branches can be merged, only after this number of
// requests about a merge request: GitLab does both in the background (docs).
func WithLag(requests int) Option { return func(s *Server) { s.lag = requests } }

// WithOldMerge makes GitLab refuse auto-merge of a commit without a pipeline, as many versions do (source:
// immediately_mergeable? wants a successful pipeline, and automatically_mergeable? a running one).
func WithOldMerge() Option { return func(s *Server) { s.oldMerge = true } }

// Access is the role of a token's user in a project.
type Access int

// The roles.
const (
	NoAccess Access = iota
	Reporter
	Developer
	Maintainer
)

type token struct {
	login      string
	everywhere Access
	projects   map[string]Access
	readOnly   bool // has the scope read_api, not api
}

// botLogin is the user of [Server.Token].
const botLogin = "kalypso-bot"

// New starts a server without projects. It serves Git to gitremote, without git processes: see [gitserver.InProcess].
func New(t testing.TB, options ...Option) *Server {
	t.Helper()
	s := &Server{
		Token: "glpat-canaryTokenOfTheFake", t: t,
		gitOptions: []gitserver.Option{gitserver.InProcess()}, now: time.Now,
		users: []string{botLogin, "ann", "bob", "eve", "outsider", "cora"}, tokens: map[string]*token{},
	}
	for _, o := range options {
		o(s)
	}
	s.tokens[s.Token] = &token{login: botLogin, everywhere: Maintainer}
	s.Server = hostfake.Start(t, hostfake.Host{
		APIPath: s.apiPath, Answer: s.answer, ServeGit: s.serveGit, Now: s.now, GitOptions: s.gitOptions,
	})
	s.URL += s.folder
	return s
}

// AddToken creates a token of a user for these projects only. All projects are private.
func (s *Server) AddToken(value, login string, projects map[string]Access) {
	s.locked(func() { s.tokens[value] = &token{login: login, projects: projects} })
}

// Revoke revokes a token.
func (s *Server) Revoke(value string) { s.locked(func() { delete(s.tokens, value) }) }

// AddReadToken creates a token for all projects whose scope is read_api.
func (s *Server) AddReadToken(value, login string) {
	s.locked(func() { s.tokens[value] = &token{login: login, everywhere: Developer, readOnly: true} })
}

// apiPath returns the path of a request below the folder and the API, as it was escaped.
func (s *Server) apiPath(req *http.Request) (path string, isAPI bool) {
	path, inside := strings.CutPrefix(req.URL.EscapedPath(), s.folder)
	if !inside {
		return path, false
	}
	req.URL.Path, req.URL.RawPath = strings.TrimPrefix(req.URL.Path, s.folder), path
	return strings.TrimPrefix(path, apiPrefix), strings.HasPrefix(path, apiPrefix+"/")
}

// answer answers a request in the table.
func (s *Server) answer(w *httptest.ResponseRecorder, req *http.Request, body []byte) {
	op := requests.Find(req.Method, req.URL.EscapedPath())
	if op == nil {
		s.t.Errorf("GitLab's table has no request %s %s", req.Method, req.URL.EscapedPath())
		fail(w, http.StatusNotFound, "404 Not Found")
		return
	}
	for _, problem := range op.CheckRequest(req.URL.Query(), body) {
		s.t.Errorf("%s %s: %s", req.Method, req.URL.EscapedPath(), problem)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dispatch(w, &call{Request: req, body: body, path: strings.Split(req.URL.EscapedPath(), "/")[3:]})
	if w.Code < http.StatusMultipleChoices {
		for _, problem := range op.CheckAnswer(w.Code, w.Body.Bytes()) {
			s.t.Errorf("the fake's answer to %s %s: %s", req.Method, req.URL.EscapedPath(), problem)
		}
	}
}

// call is a request to the API.
type call struct {
	*http.Request
	body []byte
	path []string // the segments below /api/v4
	by   *token
}

// dispatch authenticates a request and passes it to its handler.
func (s *Server) dispatch(w http.ResponseWriter, c *call) {
	if text := c.Header.Get("Authorization"); text != "" {
		value, _ := strings.CutPrefix(text, "Bearer ")
		if c.by = s.tokens[value]; c.by == nil {
			reply(w, http.StatusUnauthorized, object{"error": "invalid_token",
				"error_description": "Token was revoked. You have to re-authorize from the user."})
			return
		}
	}
	switch {
	case c.by != nil && c.by.readOnly && c.Method != http.MethodGet:
		reply(w, http.StatusForbidden, object{"error": "insufficient_scope", "scope": "api",
			"error_description": "The request requires higher privileges than provided by the access token."})
	case c.path[0] == "projects":
		s.serveProject(w, c)
	case c.by == nil:
		fail(w, http.StatusUnauthorized, "401 Unauthorized")
	case c.path[0] == "user":
		reply(w, http.StatusOK, s.user(c.by.login))
	default:
		users := []object{}
		for _, login := range s.users {
			if strings.EqualFold(login, c.URL.Query().Get("username")) {
				users = append(users, s.user(login))
			}
		}
		reply(w, http.StatusOK, users)
	}
}

// serveProject answers requests of one project.
func (s *Server) serveProject(w http.ResponseWriter, c *call) {
	p, moved := s.project(c.path[1])
	access := NoAccess
	if p != nil && c.by != nil {
		access = max(c.by.everywhere, c.by.projects[p.Path])
	}
	need := Reporter
	if c.Method != http.MethodGet {
		need = Developer
	}
	switch {
	case access == NoAccess && (c.by != nil || c.Method == http.MethodGet):
		fail(w, http.StatusNotFound, "404 Project Not Found")
	case access == NoAccess:
		fail(w, http.StatusUnauthorized, "401 Unauthorized")
	case moved && c.Method != http.MethodGet:
		fail(w, http.StatusMethodNotAllowed, "Non GET methods are not allowed for moved projects")
	case moved:
		w.Header().Set("Location", s.folder+apiPrefix+"/projects/"+strconv.Itoa(p.id))
		w.WriteHeader(http.StatusMovedPermanently)
	case access < need:
		fail(w, http.StatusForbidden, "403 Forbidden")
	case len(c.path) == 2:
		reply(w, http.StatusOK, p.showProject())
	case c.path[2] == "issues":
		issues{p}.serve(w, c)
	case c.path[2] == "merge_requests":
		p.requests.serve(w, c)
	default: // statuses/{sha}, repository/commits/{sha}/statuses
		p.statuses.serve(w, c)
	}
}

// user returns a user in the API's format.
func (s *Server) user(login string) object {
	return object{"id": s.userID(login), "username": login, "name": login, "state": "active",
		"web_url": s.URL + "/" + login, "avatar_url": nil}
}

func (s *Server) userID(login string) int { return slices.Index(s.users, login) + 1 }

// serveGit authorizes Git with the same tokens.
func (s *Server) serveGit(w http.ResponseWriter, req *http.Request, git http.Handler) {
	if s.folder != "" && !strings.HasPrefix(req.RequestURI, s.folder) {
		http.Redirect(w, req, "/users/sign_in", http.StatusFound) // like pages outside of the API, without a session
		return
	}
	user, value, basic := req.BasicAuth()
	push := hostfake.IsPush(req)
	name, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/info/refs")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "/git-receive-pack"), "/git-upload-pack")
	s.mu.Lock()
	t := s.tokens[value]
	p, _ := s.project(strings.ReplaceAll(strings.TrimSuffix(name, ".git"), "/", "%2F"))
	s.mu.Unlock()
	access := NoAccess
	if t != nil && p != nil {
		access = max(t.everywhere, t.projects[p.Path])
	}
	switch {
	case !basic || t == nil || user == "":
		w.Header().Set("WWW-Authenticate", `Basic realm="GitLab"`)
		http.Error(w, "HTTP Basic: Access denied. If a password was provided for Git authentication, the password was "+
			"incorrect or you're required to use a token instead of a password.", http.StatusUnauthorized)
	case access == NoAccess:
		http.Error(w, "The project you were looking for could not be found or you don't have permission to view it.",
			http.StatusNotFound)
	case push && access < Developer:
		http.Error(w, "You are not allowed to push code to this project.", http.StatusForbidden)
	default:
		req.URL.RawPath = ""
		git.ServeHTTP(w, req)
	}
}

type object = hostfake.Object

var value = hostfake.Value

func reply(w http.ResponseWriter, status int, body any) {
	hostfake.Reply(w, "application/json", status, body)
}

// fail answers with an error: a text, or one of the table's error shapes.
func fail(w http.ResponseWriter, status int, message any) {
	reply(w, status, object{"message": message})
}

// decode parses the body of a request.
func (c *call) decode(into any) { _ = json.NewDecoder(bytes.NewReader(c.body)).Decode(into) } // the table checked it

// list answers with a page of a list.
func list(w http.ResponseWriter, c *call, all []object) {
	query := c.URL.Query()
	number := func(name string, standard int) int {
		if n, err := strconv.Atoi(query.Get(name)); err == nil {
			return n
		}
		return standard
	}
	size, page := min(number("per_page", 20), 100), number("page", 1)
	start := min((page-1)*size, len(all))
	end := min(start+size, len(all))
	if end < len(all) {
		w.Header().Set("X-Next-Page", strconv.Itoa(page+1))
	}
	reply(w, http.StatusOK, append([]object{}, all[start:end]...))
}
