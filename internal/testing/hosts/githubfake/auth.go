package githubfake

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// App is a GitHub App with one installation, for all repos.
type App struct {
	ID, InstallationID string
	PrivateKey         string // PEM, PKCS #1 as GitHub gives it out
	// Repos lists the repos for which the app is installed ("owner/name"), and Permissions what it may do there
	// ("contents": "write"); nil: all. Set them between requests.
	Repos       []string
	Permissions map[string]string

	public *rsa.PublicKey
	given  int
}

// AddApp creates an app.
func (s *Server) AddApp(t testing.TB) *App {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	app := &App{
		public:     &key.PublicKey,
		PrivateKey: string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	}
	s.Locked(func() {
		s.apps = append(s.apps, app)
		app.ID, app.InstallationID = strconv.Itoa(100+len(s.apps)), strconv.Itoa(4000+len(s.apps))
	})
	return app
}

// installationTokenLife is the lifetime of an app's token.
const installationTokenLife = time.Hour

// tokenRequest is the body of a request for a token.
type tokenRequest struct {
	Repositories []string
	Permissions  map[string]string
}

// giveToken issues a token for the requested repos and permissions, or for all that the app has.
func (s *Server) giveToken(c *call, asked tokenRequest) answer {
	app, problem := s.appOf(c.Request)
	switch {
	case app == nil:
		return fail(http.StatusUnauthorized, problem)
	case c.PathValue("id") != app.InstallationID:
		return fail(http.StatusNotFound, "Not Found")
	case asked.Permissions == nil:
		asked.Permissions = app.Permissions
	}
	t := &hostfake.Token{Login: "kalypso[bot]", Permissions: asked.Permissions,
		Expires: s.Now().Add(installationTokenLife).UTC().Truncate(time.Second)}
	if asked.Repositories == nil {
		t.Repos = hostfake.Everywhere(hostfake.Write)
	}
	for _, name := range asked.Repositories {
		found := app.repo(s, name)
		if found == "" {
			return fail(http.StatusUnprocessableEntity,
				"There is at least one repository that does not exist or is not accessible to the parent installation.")
		}
		t.Repos = map[string]hostfake.Access{found: hostfake.Write}
	}
	for name, access := range asked.Permissions {
		if app.Permissions != nil && app.Permissions[name] != "write" && app.Permissions[name] != access {
			return fail(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
		}
	}
	app.given++
	value := fmt.Sprintf("ghs_canaryOfApp%sNumber%d", app.ID, app.given)
	s.Issue(value, t)
	return created(object{"token": value, "expires_at": t.Expires.Format(time.RFC3339)})
}

// repo is the full name of a repo for which the app is installed, or "".
func (a *App) repo(s *Server, name string) string {
	for _, r := range s.repos {
		_, short, _ := strings.Cut(r.Name, "/")
		if strings.EqualFold(short, name) && (a.Repos == nil || slices.Contains(a.Repos, r.Name)) {
			return r.Name
		}
	}
	return ""
}

// appOf returns the app that signed the request's JSON Web Token, or says why there is none.
func (s *Server) appOf(req *http.Request) (app *App, problem string) {
	text, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(text, &claims, func(*jwt.Token) (any, error) {
		i := slices.IndexFunc(s.apps, func(a *App) bool { return a.ID == claims.Issuer })
		if i < 0 {
			return nil, jwt.ErrTokenInvalidIssuer
		}
		app = s.apps[i]
		return app.public, nil
	}, jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(s.Now), jwt.WithIssuedAt(), jwt.WithExpirationRequired())
	switch {
	case errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return nil, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, "'Expiration time' claim ('exp') must be a numeric value " +
			"representing the future time at which the assertion expires"
	case err != nil:
		return nil, "A JSON web token could not be decoded"
	case claims.ExpiresAt.After(s.Now().Add(10 * time.Minute)):
		return nil, "'Expiration time' claim ('exp') is too far in the future"
	}
	return app, ""
}

// may reports whether a token has a permission.
func may(t *hostfake.Token, permission string, need hostfake.Access) bool {
	granted := t.Permissions[permission]
	return t.Permissions == nil || granted == "write" || granted == "read" && need == hostfake.Read
}

// issuePath matches the requests about issues that pull requests do not share.
var issuePath = regexp.MustCompile(`/issues(/\d+(/comments)?)?$`)

// permissionFor returns the permission that a request needs.
func permissionFor(path string) string {
	switch {
	case strings.Contains(path, "/status"):
		return "statuses"
	case strings.HasSuffix(path, "/merge"):
		return "contents"
	case issuePath.MatchString(path):
		return "issues"
	}
	return "pull_requests"
}

// authenticate finds the token of a request, unless an app signed the request.
func (s *Server) authenticate(c *call) answer {
	kind, value, _ := strings.Cut(c.Header.Get("Authorization"), " ")
	switch {
	case c.PathValue("id") != "":
		return answer{}
	case !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "token"):
		// Without a credential, private repos do not exist, and all are private.
		return fail(http.StatusNotFound, "Not Found")
	}
	c.By = s.TokenOf(value)
	if c.By == nil {
		return fail(http.StatusUnauthorized, "Bad credentials")
	}
	return answer{}
}

// opened returns the repo of a request, or refuses the request.
func (s *Server) opened(c *call) (*Repo, answer) {
	r := s.repos[strings.ToLower(c.PathValue("owner")+"/"+c.PathValue("name"))]
	switch {
	case r == nil || c.By.Access(r.Name) == hostfake.None:
		return nil, fail(http.StatusNotFound, "Not Found")
	case c.By.Access(r.Name) < c.Need():
		return nil, fail(http.StatusForbidden, "Resource not accessible by personal access token")
	case !may(c.By, permissionFor(c.URL.Path), c.Need()):
		return nil, fail(http.StatusForbidden, "Resource not accessible by integration")
	}
	return r, answer{}
}

// gitErrors are the texts of GitHub's errors for Git.
var gitErrors = map[int]string{
	http.StatusUnauthorized: "Invalid username or token. Password authentication is not supported for Git operations.",
	http.StatusForbidden:    "Permission to {repo}.git denied to {login}.",
	http.StatusNotFound:     "Repository not found.",
}

// gitToken returns the token of a request of Git, and its permission for the repo.
func (s *Server) gitToken(req *http.Request, repo string) (*hostfake.Token, hostfake.Access) {
	_, value, _ := req.BasicAuth()
	t, r := s.TokenOf(value), s.repos[strings.ToLower(repo)]
	if t == nil || r == nil {
		return t, hostfake.None
	}
	allowed := hostfake.See
	for _, access := range []hostfake.Access{hostfake.Read, hostfake.Write} {
		if may(t, "contents", access) {
			allowed = access
		}
	}
	return t, min(t.Access(r.Name), allowed)
}
