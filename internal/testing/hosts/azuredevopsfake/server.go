// Package azuredevopsfake is a fake Azure DevOps Server for tests: Azure Repos over HTTP and the REST API of one
// collection, on one listener. Its repositories are real ones, and a merge is a merge in Git. It checks each request
// and each answer against testdata/openapi.yaml, except those that Microsoft does not describe: OPTIONS,
// connectionData.
//
// It only implements what this provider uses, as Azure DevOps does. Where the description does not say how Azure
// behaves, a comment says how sure we are: (docs) in its documentation, (peer) measured by others, or (unsure).
package azuredevopsfake

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/requesttable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The collection and the project of all repos. The project's name has a space, as many have.
const (
	collection = "/acme"
	project    = "My Project"
)

// The requests that the provider may send, and their answers.
//
//go:embed testdata/openapi.yaml
var description []byte

var requests = requesttable.MustParse(description)

// Server is an Azure DevOps on loopback. Its URL is the one of the collection, and also the base_url of the provider.
type Server struct {
	*hostfake.Server
	// DropsLabels makes a create of a pull request ignore its labels: whether Azure keeps them is unsure. Set it between
	// requests.
	DropsLabels bool

	t      testing.TB
	api    hostfake.API
	repos  []*Repo
	people []*identity
}

// The scopes of tokens.
const (
	CodeRead     = "vso.code"
	CodeWrite    = "vso.code_write"
	CodeStatus   = "vso.code_status"
	IdentityRead = "vso.identity"
)

// allows reports whether a token has the scope for a request (docs), with a path in lower case.
func allows(t *hostfake.Token, method, path string) bool {
	needs := CodeRead
	switch {
	case t.Scopes == nil:
		return true
	case strings.HasPrefix(path, "/_apis/identities"):
		needs = IdentityRead
	case strings.HasPrefix(path, "/_apis/"): // connectionData
		return true
	case method != http.MethodGet && strings.Contains(path, "/commits/"):
		needs = CodeStatus
	case method != http.MethodGet:
		needs = CodeWrite
	}
	return slices.Contains(t.Scopes, needs)
}

// New starts a server without repos. With [hostfake.WithLag], it shows a push, and ends a merge, in the background
// (peer).
func New(t testing.TB, options ...hostfake.Option) *Server {
	t.Helper()
	s := &Server{t: t, people: identities()}
	s.api = hostfake.API{
		Prefix: collection, ContentType: "application/json; charset=utf-8; api-version=7.1-preview.1",
		Authenticate: s.authenticate, Format: format,
	}
	s.route()
	s.Server = hostfake.Start(t, hostfake.Host{
		APIPath: func(req *http.Request) (string, bool) {
			return strings.TrimPrefix(req.URL.EscapedPath(), collection), strings.Contains(req.URL.Path, "/_apis")
		},
		Answer: s.answer, GitToken: s.gitToken, GitErrors: gitErrors, GitOptions: []gitserver.Option{gitserver.Azure()},
		Header: map[string]string{"X-Tfs-Session": "00000000-0000-4000-8000-0000000000ff"},
		Token:  "canaryTokenOfTheAzureFake", Folder: collection,
	}, options...)
	return s
}

// answer answers a request in the description, or one of the two that it lacks.
func (s *Server) answer(w *httptest.ResponseRecorder, req *http.Request, body []byte) {
	req.URL.Path, req.URL.RawPath = strings.ToLower(req.URL.Path), strings.ToLower(req.URL.EscapedPath())
	path := req.URL.EscapedPath()
	if path == collection+"/_apis" || path == collection+"/_apis/connectiondata" || s.refused(req).Status != 0 {
		s.api.ServeHTTP(w, req)
		return
	}
	if accepted := req.Header.Get("Accept"); !strings.Contains(accepted, "api-version=7.1") {
		s.t.Errorf("%s %s asks for no version: %s", req.Method, path, accepted)
	}
	requests.Answer(s.t, w, req, path, body, &s.api)
}

// signInPage is the body of Azure's answer to a credential that it does not accept.
const signInPage = "<html><title>Azure DevOps Services | Sign In</title></html>"

// authenticate finds the token of a request.
func (s *Server) authenticate(c *call) answer {
	c.By = s.TokenOf(credential(c.Request))
	return s.refused(c.Request)
}

// refused refuses a request without a token: with a page to sign in, unless the client asks for none (docs). A change
// is refused with 401 in any case (peer).
func (s *Server) refused(req *http.Request) answer {
	t := s.TokenOf(credential(req))
	switch {
	case req.Method == http.MethodOptions:
		return answer{}
	case t != nil && !allows(t, req.Method, strings.TrimPrefix(req.URL.Path, collection)):
		return answer{Status: http.StatusUnauthorized} // without a body (peer)
	case t != nil:
		return answer{}
	case req.Header.Get("X-TFS-FedAuthRedirect") != "Suppress" && req.Method != http.MethodPatch:
		return answer{Status: http.StatusNonAuthoritativeInfo, Body: signInPage}
	}
	return fail(http.StatusUnauthorized, "UnauthorizedRequestException",
		"TF400813: The user '' is not authorized to access this resource.")
}

// credential returns the password of a request, or its bearer token.
func credential(req *http.Request) string {
	if _, password, basic := req.BasicAuth(); basic {
		return password
	}
	bearer, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	return bearer
}

func (s *Server) route() {
	hostfake.Handle(&s.api, "OPTIONS /_apis", func(*call, none) answer { return list(routes) })
	hostfake.Handle(&s.api, "GET /_apis/connectiondata", func(c *call, _ none) answer {
		me := s.person(c.By.Login)
		return ok(object{"authenticatedUser": object{
			"id": me.id, "providerDisplayName": me.login,
			"properties": object{"Account": object{"$type": "System.String", "$value": me.login}},
		}})
	})
	hostfake.Handle(&s.api, "GET /_apis/identities", s.findIdentities)
	handle(s, "GET /{project}/_apis/git/policy/configurations", func(r *Repo, c *call, _ none) answer {
		return list(r.policies.of(c.URL.Query().Get("refName")))
	})
	onRepo(s, "GET ", func(r *Repo, _ *call, _ none) answer { return ok(r.show()) })
	onRepo(s, "GET /refs", func(r *Repo, c *call, _ none) answer { return list(s.refs(r, c.URL.Query().Get("filter"))) })
	s.routeStatuses()
	s.routePullRequests()
	s.api.HandleUnknown(fail(http.StatusNotFound, "", "The controller for path was not found."))
}

// onRepo routes requests below a repo to a function, which gets the body.
func onRepo[B any](s *Server, pattern string, do func(r *Repo, c *call, asked B) answer) {
	method, path, _ := strings.Cut(pattern, " ")
	handle(s, method+" /{project}/_apis/git/repositories/{repo}"+path, do)
}

// handle routes requests about a repo to a function, which gets the body.
func handle[B any](s *Server, pattern string, do func(r *Repo, c *call, asked B) answer) {
	hostfake.Handle(&s.api, pattern, func(c *call, asked B) answer {
		in, name := c.PathValue("project"), cmp.Or(c.PathValue("repo"), c.URL.Query().Get("repositoryId"))
		r := s.repo(name)
		switch {
		case !strings.EqualFold(in, project) && in != projectID:
			return fail(http.StatusNotFound, "ProjectDoesNotExistWithNameException", "TF200016: The following project does "+
				"not exist: "+in+". Verify that the name of the project is correct.")
		case r == nil || c.By.Access(r.Name) == hostfake.None:
			return fail(http.StatusNotFound, "GitRepositoryNotFoundException", "TF401019: The Git repository with name or "+
				"identifier "+name+" does not exist or you do not have permissions for the operation you are attempting.")
		case c.By.Access(r.Name) < c.Need():
			return fail(http.StatusForbidden, "GitNeedsPermissionException",
				"TF401027: You need the Git 'GenericContribute' permission to perform this action.")
		}
		return do(r, c, asked)
	})
}

// gitErrors are the texts of Azure's errors for Git.
var gitErrors = map[int]string{
	http.StatusUnauthorized: "TF400813: The user '' is not authorized to access this resource.",
	http.StatusForbidden:    "TF401027: You need the Git 'GenericContribute' permission.",
	http.StatusNotFound:     "TF401019: The Git repository does not exist or you do not have permissions.",
}

// gitToken returns the token of a request of Git, and its permission, which is the same for all repos.
func (s *Server) gitToken(req *http.Request, _ string) (*hostfake.Token, hostfake.Access) {
	t := s.TokenOf(credential(req))
	return t, t.Access("")
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

func list(all []object) answer {
	return ok(object{"count": len(all), "value": append([]object{}, all...)})
}

// part returns a part of a list, of a length that is standard unless given.
func part(all []object, skip, top string, standard int) []object {
	from, _ := strconv.Atoi(skip)
	length, _ := strconv.Atoi(top)
	from = min(from, len(all))
	return all[from:min(from+cmp.Or(length, standard), len(all))]
}

// fail answers with an error.
func fail(status int, key, message string) answer {
	return answer{Status: status, Body: object{"$id": "1", "message": message,
		"typeKey": cmp.Or(key, "VssServiceException"), "errorCode": 0, "eventId": 3000}}
}

// format writes a page, or an error, behind a byte order mark as some of Azure's have.
func format(w http.ResponseWriter, a answer) bool {
	page, isPage := a.Body.(string)
	switch {
	case isPage:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	case a.Body != nil && a.Status >= http.StatusBadRequest:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		text, _ := json.Marshal(a.Body)
		page = "\ufeff" + string(text)
	default:
		return false
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, page)
	return true
}

// route is where the library finds a resource.
func route(id, area, resource, template string) object {
	return object{"id": id, "area": area, "resourceName": resource, "routeTemplate": template, "resourceVersion": 1,
		"minVersion": "1.0", "maxVersion": "7.1", "releasedVersion": "7.1"}
}

const atRepo = "{project}/_apis/{area}/repositories/{repositoryId}/"

var routes = []object{
	route("225f7195-f9c7-4d14-ab28-a83f7ff77e1f", "git", "repositories",
		"{project}/_apis/{area}/{resource}/{repositoryId}"),
	route("9946fd70-0d40-406e-b686-b4744cbbcc37", "git", "pullRequests", atRepo+"{resource}/{pullRequestId}"),
	route("f22387e3-984e-4c52-9c6d-fbb8f14c812d", "git", "labels",
		atRepo+"pullRequests/{pullRequestId}/{resource}/{labelIdOrName}"),
	route("4b6702c7-aa35-4b89-9c96-b9abf6d3e540", "git", "reviewers",
		atRepo+"pullRequests/{pullRequestId}/{resource}/{reviewerId}"),
	route("2d874a60-a811-4f62-9c9f-963a6ea0a55b", "git", "refs", atRepo+"{resource}"),
	route("428dd4fb-fda5-4722-af02-9313b80305da", "git", "statuses", atRepo+"commits/{commitId}/{resource}"),
	route("2c420070-a0a2-49cc-9639-c9f271c5ff07", "git", "configurations", "{project}/_apis/{area}/policy/{resource}"),
	route("28010c54-d0c0-4c89-a5b0-1c9e188b9fb7", "IMS", "identities", "_apis/{resource}/{identityId}"),
	route("00d9565f-ed9c-4a06-9a50-00e7896ccab4", "Location", "connectionData", "_apis/{resource}"),
}
