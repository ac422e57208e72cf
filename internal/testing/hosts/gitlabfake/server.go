// Package gitlabfake is a fake GitLab server for tests: Git over HTTP and the REST API below /api/v4/, on one listener.
// Its repositories are real ones, and a merge is a merge in Git. It checks each request and each answer against
// testdata/openapi.yaml.
//
// It only implements what this provider uses, as GitLab does. Where the table does not say how GitLab behaves, a
// comment says how sure we are: (source) read in GitLab's source, (docs) in its documentation, or (unsure).
package gitlabfake

import (
	"cmp"
	_ "embed"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/requesttable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const apiPrefix = "/api/v4"

// The requests that the provider may send, and their answers.
//
//go:embed testdata/openapi.yaml
var description []byte

var requests = requesttable.MustParse(description)

// Server is a GitLab on loopback. Its URL is also the base_url of the provider.
type Server struct {
	*hostfake.Server
	// OldMerge makes GitLab refuse auto-merge of a commit without a pipeline, as many versions do (source:
	// immediately_mergeable? wants a successful pipeline, and automatically_mergeable? a running one). Set it between
	// requests.
	OldMerge bool

	t        testing.TB
	api      hostfake.API
	projects []*Project
	users    []string // logins; the number of a user is the position, from 1
}

// readScope is the scope of a token that may only read. Tokens without scopes here have the scope api.
const readScope = "read_api"

// New starts a server without projects. With [hostfake.WithLag], it shows a push, and checks whether branches can be
// merged, in the background (docs). It serves Git to gitremote, without git processes: see [gitserver.InProcess].
func New(t testing.TB, options ...hostfake.Option) *Server {
	t.Helper()
	s := &Server{t: t, users: []string{hostfake.BotLogin, "ann", "bob", "eve", "outsider", "cora"}}
	s.api = hostfake.API{Prefix: apiPrefix, ContentType: "application/json", Authenticate: s.authenticate}
	s.routeUsers()
	onProject(s, "GET ", func(p *Project, _ *call, _ none) answer { return ok(p.showProject()) })
	s.routeIssues()
	s.routeMergeRequests()
	s.routeStatuses()
	s.api.HandleUnknown(fail(http.StatusNotFound, "404 Not Found"))
	s.Server = hostfake.Start(t, hostfake.Host{
		APIPath: s.apiPath, Answer: s.answer, GitToken: s.gitToken, GitErrors: gitErrors, Token: "glpat-canaryTokenOfTheFake",
		GitOptions: []gitserver.Option{gitserver.InProcess()},
	}, options...)
	return s
}

// apiPath returns the path of a request below the folder and the API, as it was escaped.
func (s *Server) apiPath(req *http.Request) (path string, isAPI bool) {
	path = strings.TrimPrefix(req.URL.EscapedPath(), s.Host.Folder)
	req.URL.Path, req.URL.RawPath = strings.TrimPrefix(req.URL.Path, s.Host.Folder), path
	return strings.TrimPrefix(path, apiPrefix), strings.HasPrefix(path, apiPrefix+"/")
}

// answer answers a request in the table.
func (s *Server) answer(w *httptest.ResponseRecorder, req *http.Request, body []byte) {
	requests.Answer(s.t, w, req, req.URL.EscapedPath(), body, &s.api)
}

// authenticate finds the token of a request.
func (s *Server) authenticate(c *call) answer {
	if text := c.Header.Get("Authorization"); text != "" {
		value, _ := strings.CutPrefix(text, "Bearer ")
		c.By = s.TokenOf(value)
		if c.By == nil {
			return answer{Status: http.StatusUnauthorized, Body: object{"error": "invalid_token",
				"error_description": "Token was revoked. You have to re-authorize from the user."}}
		}
	}
	switch {
	case c.By != nil && slices.Contains(c.By.Scopes, readScope) && c.Need() == hostfake.Write:
		return answer{Status: http.StatusForbidden, Body: object{"error": "insufficient_scope", "scope": "api",
			"error_description": "The request requires higher privileges than provided by the access token."}}
	case c.By == nil && c.PathValue("project") == "":
		return fail(http.StatusUnauthorized, "401 Unauthorized")
	}
	return answer{}
}

func (s *Server) routeUsers() {
	hostfake.Handle(&s.api, "GET /user", func(c *call, _ none) answer { return ok(s.user(c.By.Login)) })
	hostfake.Handle(&s.api, "GET /users", func(c *call, _ none) answer {
		found := slices.DeleteFunc(slices.Clone(s.users), func(login string) bool {
			return !strings.EqualFold(login, c.URL.Query().Get("username"))
		})
		return ok(lists.Map(found, s.user))
	})
}

// onProject routes requests for a project, or below it, to a function, which gets the body.
func onProject[B any](s *Server, pattern string, do func(p *Project, c *call, asked B) answer) {
	method, path, _ := strings.Cut(pattern, " ")
	hostfake.Handle(&s.api, method+" /projects/{project}"+path, func(c *call, asked B) answer {
		p, moved := s.project(c.PathValue("project"))
		access := hostfake.None
		if p != nil {
			access = c.By.Access(p.Path)
		}
		switch {
		case access == hostfake.None && (c.By != nil || c.Method == http.MethodGet):
			return fail(http.StatusNotFound, "404 Project Not Found")
		case access == hostfake.None:
			return fail(http.StatusUnauthorized, "401 Unauthorized")
		case moved && c.Method != http.MethodGet:
			return fail(http.StatusMethodNotAllowed, "Non GET methods are not allowed for moved projects")
		case moved:
			c.Answered.Set("Location", s.Host.Folder+apiPrefix+"/projects/"+strconv.Itoa(p.id))
			return answer{Status: http.StatusMovedPermanently}
		case access < c.Need():
			return fail(http.StatusForbidden, "403 Forbidden")
		}
		return do(p, c, asked)
	})
}

// user returns a user in the API's format.
func (s *Server) user(login string) object {
	return object{"id": s.userID(login), "username": login, "name": login, "state": "active",
		"web_url": s.URL + "/" + login, "avatar_url": nil}
}

func (s *Server) userID(login string) int { return slices.Index(s.users, login) + 1 }

// gitErrors are the texts of GitLab's errors for Git.
var gitErrors = map[int]string{
	http.StatusUnauthorized: "HTTP Basic: Access denied. If a password was provided for Git authentication, the " +
		"password was incorrect or you're required to use a token instead of a password.",
	http.StatusForbidden: "You are not allowed to push code to this project.",
	http.StatusNotFound:  "The project you were looking for could not be found or you don't have permission to view it.",
}

// gitToken returns the token of a request of Git, which needs any user name, and its permission for the project.
func (s *Server) gitToken(req *http.Request, path string) (*hostfake.Token, hostfake.Access) {
	user, value, _ := req.BasicAuth()
	t := s.TokenOf(value)
	p, _ := s.project(path)
	switch {
	case user == "":
		return nil, hostfake.None
	case p == nil:
		return t, hostfake.None
	}
	return t, t.Access(p.Path)
}

type (
	object = hostfake.Object
	answer = hostfake.Answer
	call   = hostfake.Call
	none   = struct{} // the body of a request without one
)

var (
	value   = hostfake.Value
	ok      = hostfake.OK
	created = hostfake.Created
)

// fail answers with an error: a text, or one of the table's error shapes.
func fail(status int, message any) answer {
	return answer{Status: status, Body: object{"message": message}}
}

// list answers with a page of a list.
func list(c *call, all []object) answer {
	query := c.URL.Query()
	number := func(name string, standard int) int {
		n, _ := strconv.Atoi(query.Get(name))
		return cmp.Or(n, standard)
	}
	size, page := min(number("per_page", 20), 100), number("page", 1)
	start := min((page-1)*size, len(all))
	end := min(start+size, len(all))
	if end < len(all) {
		c.Answered.Set("X-Next-Page", strconv.Itoa(page+1))
	}
	return ok(all[start:end])
}
