// Package azuredevopsfake is a fake Azure DevOps Server for tests: Azure Repos over HTTP and the REST API of one
// collection, on one listener. Its repositories are real ones, and a merge is a merge in Git. It checks each request
// and each answer against testdata/git-7.1.json, except those that Microsoft does not describe: OPTIONS,
// connectionData.
//
// It only implements what this provider uses, as Azure DevOps does. Where the description does not say how Azure
// behaves, a comment says how sure we are: (docs) in its documentation, (peer) measured by others, or (unsure).
package azuredevopsfake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The collection and the project of all repos. The project's name has a space, as many have.
const (
	collection = "/acme"
	project    = "My Project"
)

// Server is an Azure DevOps on loopback. Its URL is the one of the collection, and also the base_url of the provider.
type Server struct {
	*hostfake.Server

	t testing.TB
	// dropsLabels says that a create ignores its labels.
	dropsLabels bool
	repos       []*Repo
	people      []*identity
}

// The scopes of tokens.
const (
	CodeRead     = "vso.code"
	CodeWrite    = "vso.code_write"
	CodeStatus   = "vso.code_status"
	IdentityRead = "vso.identity"
)

// allows reports whether a token has the scope for a request (docs).
func (c *call) allows(t *hostfake.Token) bool {
	needs := CodeRead
	switch {
	case t.Scopes == nil || len(c.path) < 2:
		return true
	case c.path[0] == "_apis" && strings.EqualFold(c.path[1], "identities"):
		needs = IdentityRead
	case c.path[0] == "_apis": // connectionData
		return true
	case c.Method != http.MethodGet && len(c.path) > 5 && c.path[5] == "commits":
		needs = CodeStatus
	case c.Method != http.MethodGet:
		needs = CodeWrite
	}
	return slices.Contains(t.Scopes, needs)
}

// New starts a server without repos. With [hostfake.WithLag], it shows a push, and ends a merge, in the background
// (peer).
func New(t testing.TB, options ...hostfake.Option) *Server {
	t.Helper()
	s := &Server{t: t, people: identities()}
	s.Server = hostfake.Start(t, hostfake.Host{
		APIPath: func(req *http.Request) (string, bool) {
			return strings.TrimPrefix(req.URL.EscapedPath(), collection), strings.Contains(req.URL.Path, "/_apis")
		},
		Answer: s.answer, ServeGit: s.serveGit, GitOptions: []gitserver.Option{gitserver.Azure()},
		Header: map[string]string{"X-Tfs-Session": "00000000-0000-4000-8000-0000000000ff"},
		Token:  "canaryTokenOfTheAzureFake", Folder: collection,
	}, options...)
	return s
}

// DropCreatedLabels makes a create of a pull request ignore its labels: whether Azure keeps them is unsure.
func (s *Server) DropCreatedLabels() { s.Locked(func() { s.dropsLabels = true }) }

// answer answers a request in the description, or one of the two that it lacks.
func (s *Server) answer(w *httptest.ResponseRecorder, req *http.Request, body []byte) {
	c := &call{Request: req, body: body}
	for _, segment := range strings.Split(strings.TrimPrefix(req.URL.EscapedPath(), collection+"/"), "/") {
		name, _ := url.PathUnescape(segment)
		c.path = append(c.path, name)
	}
	switch {
	case req.Method == http.MethodOptions && req.URL.Path == collection+"/_apis":
		list(w, routes)
		return
	case !s.authenticate(w, c):
		return
	case req.Method == http.MethodGet && strings.EqualFold(req.URL.Path, collection+"/_apis/connectionData"):
		me := s.person(c.by.Login)
		reply(w, http.StatusOK, object{"authenticatedUser": object{
			"id": me.id, "providerDisplayName": me.login,
			"properties": object{"Account": object{"$type": "System.String", "$value": me.login}},
		}})
		return
	}
	if accepted := c.Header.Get("Accept"); !strings.Contains(accepted, "api-version=7.1") {
		s.t.Errorf("%s %s asks for no version: %s", req.Method, req.URL.EscapedPath(), accepted)
	}
	path := strings.ToLower(req.URL.EscapedPath())
	if !requests.Answer(s.t, w, req, path, body, func() { s.dispatch(w, c) }) {
		fail(w, http.StatusNotFound, "", "The controller for path was not found.")
	}
}

// call is a request to the API.
type call struct {
	*http.Request
	body []byte
	path []string // the segments below the collection
	by   *hostfake.Token
}

// authenticate finds the token of a request, or refuses it: with a page to sign in, unless the client asks for none
// (docs). A change is refused with 401 in any case (peer).
func (s *Server) authenticate(w http.ResponseWriter, c *call) bool {
	if c.by = s.TokenOf(credential(c.Request)); c.by != nil {
		if c.allows(c.by) {
			return true
		}
		w.WriteHeader(http.StatusUnauthorized) // without a body (peer)
		return false
	}
	if c.Header.Get("X-TFS-FedAuthRedirect") != "Suppress" && c.Method != http.MethodPatch {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNonAuthoritativeInfo)
		_, _ = io.WriteString(w, "<html><title>Azure DevOps Services | Sign In</title></html>")
		return false
	}
	fail(w, http.StatusUnauthorized, "UnauthorizedRequestException",
		"TF400813: The user '' is not authorized to access this resource.")
	return false
}

// credential returns the password of a request, or its bearer token.
func credential(req *http.Request) string {
	if _, password, basic := req.BasicAuth(); basic {
		return password
	}
	bearer, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	return bearer
}

// dispatch passes a request to its handler. Of repos, the path is {project}/_apis/git/repositories/{repo}/….
func (s *Server) dispatch(w http.ResponseWriter, c *call) {
	if c.path[0] == "_apis" {
		s.serveIdentities(w, c)
		return
	}
	name := c.URL.Query().Get("repositoryId")
	if c.path[3] == "repositories" {
		name = c.path[4]
	}
	r := s.repo(name)
	switch {
	case !strings.EqualFold(c.path[0], project) && c.path[0] != projectID:
		fail(w, http.StatusNotFound, "ProjectDoesNotExistWithNameException",
			"TF200016: The following project does not exist: "+c.path[0]+". Verify that the name of the project is correct.")
	case r == nil || c.by.Access(r.Name) == hostfake.None:
		fail(w, http.StatusNotFound, "GitRepositoryNotFoundException", "TF401019: The Git repository with name or "+
			"identifier "+name+" does not exist or you do not have permissions for the operation you are attempting.")
	case c.Method != http.MethodGet && c.by.Access(r.Name) < hostfake.Write:
		fail(w, http.StatusForbidden, "GitNeedsPermissionException",
			"TF401027: You need the Git 'GenericContribute' permission to perform this action.")
	case c.path[3] == "policy":
		list(w, r.policies.of(c.URL.Query().Get("refName")))
	case len(c.path) == 5:
		reply(w, http.StatusOK, r.show())
	case c.path[5] == "commits":
		r.serveStatuses(w, c)
	case c.path[5] == "refs":
		list(w, s.refs(r, c.URL.Query().Get("filter")))
	default:
		r.servePullRequests(w, c)
	}
}

// serveGit authorizes Git with the same tokens.
func (s *Server) serveGit(w http.ResponseWriter, req *http.Request, git http.Handler) {
	var t *hostfake.Token
	s.Locked(func() { t = s.TokenOf(credential(req)) })
	switch {
	case t == nil:
		w.Header().Set("WWW-Authenticate", `Basic realm="`+s.URL+`"`)
		http.Error(w, "TF400813: The user '' is not authorized to access this resource.", http.StatusUnauthorized)
	case t.Access("") == hostfake.None: // Azure's tokens have one permission for all repos
		http.Error(w, "TF401019: The Git repository does not exist or you do not have permissions.", http.StatusNotFound)
	case hostfake.IsPush(req) && t.Access("") < hostfake.Write:
		http.Error(w, "TF401027: You need the Git 'GenericContribute' permission.", http.StatusForbidden)
	default:
		git.ServeHTTP(w, req)
	}
}

type object = hostfake.Object

var value = hostfake.Value

func reply(w http.ResponseWriter, status int, body any) {
	hostfake.Reply(w, "application/json; charset=utf-8; api-version=7.1-preview.1", status, body)
}

func list(w http.ResponseWriter, all []object) {
	reply(w, http.StatusOK, object{"count": len(all), "value": append([]object{}, all...)})
}

// part returns a part of a list, of a length that is standard unless given.
func part(all []object, skip, top string, standard int) []object {
	from, _ := strconv.Atoi(skip)
	length, err := strconv.Atoi(top)
	if err != nil {
		length = standard
	}
	from = min(from, len(all))
	return all[from:min(from+length, len(all))]
}

// fail answers with an error, behind a byte order mark as some of Azure's have.
func fail(w http.ResponseWriter, status int, key string, message any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	text, _ := json.Marshal(object{"$id": "1", "message": message, "typeKey": cmp.Or(key, "VssServiceException"),
		"errorCode": 0, "eventId": 3000})
	_, _ = fmt.Fprintf(w, "\ufeff%s", text)
}

// decode parses the body of a request.
func (c *call) decode(into any) { _ = json.NewDecoder(bytes.NewReader(c.body)).Decode(into) } // it was checked

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
