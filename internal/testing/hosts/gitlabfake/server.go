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
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const apiPrefix = "/api/v4"

// Server is a GitLab on loopback. Its URL is also the base_url of the provider.
type Server struct {
	*hostfake.Server

	t        testing.TB
	projects []*Project
	users    []string // logins; the number of a user is the position, from 1
	oldMerge bool
}

// readScope is the scope of a token that may only read. Tokens without scopes here have the scope api.
const readScope = "read_api"

// New starts a server without projects. With [hostfake.WithLag], it shows a push, and checks whether branches can be
// merged, in the background (docs). It serves Git to gitremote, without git processes: see [gitserver.InProcess].
func New(t testing.TB, options ...hostfake.Option) *Server {
	t.Helper()
	s := &Server{t: t, users: []string{hostfake.BotLogin, "ann", "bob", "eve", "outsider", "cora"}}
	s.Server = hostfake.Start(t, hostfake.Host{
		APIPath: s.apiPath, Answer: s.answer, ServeGit: s.serveGit, Token: "glpat-canaryTokenOfTheFake",
		GitOptions: []gitserver.Option{gitserver.InProcess()},
	}, options...)
	return s
}

// UseOldMerge makes GitLab refuse auto-merge of a commit without a pipeline, as many versions do (source:
// immediately_mergeable? wants a successful pipeline, and automatically_mergeable? a running one).
func (s *Server) UseOldMerge() { s.Locked(func() { s.oldMerge = true }) }

// apiPath returns the path of a request below the folder and the API, as it was escaped.
func (s *Server) apiPath(req *http.Request) (path string, isAPI bool) {
	path, inside := strings.CutPrefix(req.URL.EscapedPath(), s.Host.Folder)
	if !inside {
		return path, false
	}
	req.URL.Path, req.URL.RawPath = strings.TrimPrefix(req.URL.Path, s.Host.Folder), path
	return strings.TrimPrefix(path, apiPrefix), strings.HasPrefix(path, apiPrefix+"/")
}

// answer answers a request in the table.
func (s *Server) answer(w *httptest.ResponseRecorder, req *http.Request, body []byte) {
	path := req.URL.EscapedPath()
	c := &call{Request: req, body: body, path: strings.Split(path, "/")[3:]}
	if !requests.Answer(s.t, w, req, path, body, func() { s.dispatch(w, c) }) {
		fail(w, http.StatusNotFound, "404 Not Found")
	}
}

// call is a request to the API.
type call struct {
	*http.Request
	body []byte
	path []string // the segments below /api/v4
	by   *hostfake.Token
}

// dispatch authenticates a request and passes it to its handler.
func (s *Server) dispatch(w http.ResponseWriter, c *call) {
	if text := c.Header.Get("Authorization"); text != "" {
		value, _ := strings.CutPrefix(text, "Bearer ")
		if c.by = s.TokenOf(value); c.by == nil {
			reply(w, http.StatusUnauthorized, object{"error": "invalid_token",
				"error_description": "Token was revoked. You have to re-authorize from the user."})
			return
		}
	}
	switch {
	case c.by != nil && slices.Contains(c.by.Scopes, readScope) && c.Method != http.MethodGet:
		reply(w, http.StatusForbidden, object{"error": "insufficient_scope", "scope": "api",
			"error_description": "The request requires higher privileges than provided by the access token."})
	case c.path[0] == "projects":
		s.serveProject(w, c)
	case c.by == nil:
		fail(w, http.StatusUnauthorized, "401 Unauthorized")
	case c.path[0] == "user":
		reply(w, http.StatusOK, s.user(c.by.Login))
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
	access := hostfake.None
	if p != nil && c.by != nil {
		access = c.by.Access(p.Path)
	}
	need := hostfake.Read
	if c.Method != http.MethodGet {
		need = hostfake.Write
	}
	switch {
	case access == hostfake.None && (c.by != nil || c.Method == http.MethodGet):
		fail(w, http.StatusNotFound, "404 Project Not Found")
	case access == hostfake.None:
		fail(w, http.StatusUnauthorized, "401 Unauthorized")
	case moved && c.Method != http.MethodGet:
		fail(w, http.StatusMethodNotAllowed, "Non GET methods are not allowed for moved projects")
	case moved:
		w.Header().Set("Location", s.Host.Folder+apiPrefix+"/projects/"+strconv.Itoa(p.id))
		w.WriteHeader(http.StatusMovedPermanently)
	case access < need:
		fail(w, http.StatusForbidden, "403 Forbidden")
	case len(c.path) == 2:
		reply(w, http.StatusOK, p.showProject())
	case c.path[2] == "issues":
		issues{p}.serve(w, c)
	case c.path[2] == "merge_requests":
		p.serveMergeRequests(w, c)
	default: // statuses/{sha}, repository/commits/{sha}/statuses
		p.serveStatuses(w, c)
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
	if !strings.HasPrefix(req.RequestURI, s.Host.Folder) {
		http.Redirect(w, req, "/users/sign_in", http.StatusFound) // like pages outside of the API, without a session
		return
	}
	user, value, basic := req.BasicAuth()
	push := hostfake.IsPush(req)
	name, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/info/refs")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "/git-receive-pack"), "/git-upload-pack")
	var t *hostfake.Token
	access := hostfake.None
	s.Locked(func() {
		t = s.TokenOf(value)
		if p, _ := s.project(strings.ReplaceAll(strings.TrimSuffix(name, ".git"), "/", "%2F")); t != nil && p != nil {
			access = t.Access(p.Path)
		}
	})
	switch {
	case !basic || t == nil || user == "":
		w.Header().Set("WWW-Authenticate", `Basic realm="GitLab"`)
		http.Error(w, "HTTP Basic: Access denied. If a password was provided for Git authentication, the password was "+
			"incorrect or you're required to use a token instead of a password.", http.StatusUnauthorized)
	case access == hostfake.None:
		http.Error(w, "The project you were looking for could not be found or you don't have permission to view it.",
			http.StatusNotFound)
	case push && access < hostfake.Write:
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
