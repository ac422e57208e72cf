// Package azuredevops implements [githost.Host] for Azure DevOps: Azure DevOps Services, or a collection of an Azure
// DevOps Server.
package azuredevops

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/identity"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/location"

	giturl "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/url"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
)

// Config configures the access to the API.
type Config struct {
	// Token is a personal access token, or the token of a pipeline. Without it, Azure only serves public projects.
	Token string
	// Organizations are the only ones that get the token, in any case; none: all.
	Organizations []string
	// Entra returns a token of Microsoft Entra that is not the refused one. An error that wraps
	// [githost.ErrUnavailable] says that Entra did not answer. Nil: Token is the credential.
	Entra func(ctx context.Context, refused string) (string, error)
	// Credential names where users configure the credential, for errors.
	Credential string
	BaseURL    string            // of a collection of a server of one's own; "": Azure DevOps Services
	UserAgent  string            // "": the library's
	Transport  http.RoundTripper // nil: the network, with the proxies of the environment
	Clock      httpapi.Clock     // nil: the machine's
	// HeaderTimeout bounds the time until an answer begins, on the network; 0: a minute.
	HeaderTimeout time.Duration
	// Secrets are redacted in all errors. The client adds its own. Nil: only its own.
	Secrets *redact.Secrets
	// OnRetry, if set, is called before each wait for another attempt.
	OnRetry func(ctx context.Context, reason error, wait time.Duration)
}

// Client is a [githost.Host]. It is safe for concurrent use.
type Client struct {
	Config
	web  *url.URL // of the collection, without a slash at its end; nil: Azure DevOps Services
	http *http.Client
	// others is the client for organisations that must not get the token; nil: all get it.
	others *Client

	mu      sync.Mutex
	refused string // the last token of Entra that Azure did not accept
	all     map[string]*organization
}

var _ githost.Host = (*Client)(nil)

// Names that users know the host by.
const (
	hostName  = "Azure DevOps"
	hostBlock = "azure_devops"
)

// The servers of Azure DevOps Services. Identities have one of their own.
const (
	publicServer   = "https://dev.azure.com"
	identityServer = "https://vssps.dev.azure.com"
)

// New returns a client. It contacts no server.
func New(c Config) (*Client, error) {
	client := &Client{Config: c, all: map[string]*organization{}}
	if len(c.Organizations) > 0 {
		anonymous := c
		anonymous.Token, anonymous.Organizations = "", nil
		var err error
		if client.others, err = New(anonymous); err != nil {
			return nil, err
		}
	}
	roots := []*url.URL{
		{Scheme: "https", Host: "dev.azure.com", Path: "/"}, {Scheme: "https", Host: "vssps.dev.azure.com", Path: "/"},
	}
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") == "" {
			return nil, errors.New("the base URL is not that of a collection, such as https://tfs.acme.io/tfs/Main")
		}
		folder := strings.TrimRight(u.Path, "/")
		client.web = &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: folder}
		roots = []*url.URL{{Scheme: u.Scheme, Host: u.Host, Path: folder + "/"}}
	}
	if client.Secrets == nil {
		client.Secrets = &redact.Secrets{}
	}
	client.Secrets.Add(c.Token)
	if client.Clock == nil {
		client.Clock = httpapi.MachineClock{}
	}
	client.http = httpapi.New(httpapi.Config{
		Host: hostName, Roots: roots, Message: func(body []byte) string { return parseError(body).Message },
		Limited: limited, IsSignIn: isSignIn, Transport: c.Transport, Clock: client.Clock, HeaderTimeout: c.HeaderTimeout,
		Secrets: client.Secrets, OnRetry: c.OnRetry,
	}).Client(client.authorization())
	client.http.Transport = answers{client.http.Transport}
	return client, nil
}

// authorization authenticates by the token, or by tokens of Entra.
func (c *Client) authorization() httpapi.Authorization {
	auth := httpapi.Authorization{
		Credential: func(context.Context) (string, error) { return c.Token, nil }, Set: httpapi.Bearer,
	}
	switch {
	case c.Entra != nil:
		auth.Credential = c.entraToken
		auth.Renew = func(refused string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.refused = refused
		}
	case !isJWT(c.Token):
		auth.Set = func(h http.Header, token string) {
			h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(":"+token)))
		}
	}
	return auth
}

func (c *Client) entraToken(ctx context.Context) (string, error) {
	c.mu.Lock()
	refused := c.refused
	c.mu.Unlock()
	token, err := c.Entra(ctx, refused)
	if err != nil {
		kind := githost.ErrUnauthenticated
		if errors.Is(err, githost.ErrUnavailable) {
			kind = githost.ErrUnavailable
		}
		return "", &githost.Error{Op: "sign in with Microsoft Entra", Kind: kind, Cause: err}
	}
	return token, nil
}

// isJWT reports whether a token is one of a pipeline, which is a bearer token. Personal access tokens are none.
func isJWT(token string) bool {
	return strings.HasPrefix(token, "eyJ") && strings.Count(token, ".") == 2
}

// Name implements [githost.Host].
func (*Client) Name() string { return hostName }

// Block implements [githost.Host].
func (*Client) Block() string { return hostBlock }

// Repo implements [githost.Host].
func (c *Client) Repo(repoURL string) (githost.Repo, error) {
	if c.web != nil {
		return c.serverRepo(repoURL)
	}
	loc, err := giturl.Parse(repoURL)
	if err != nil {
		return nil, err
	}
	at, ok := loc.AzureRepo()
	if ok && c.others != nil && len(withoutFold([]string{at.Organization}, c.Organizations)) > 0 {
		return c.others.Repo(repoURL)
	}
	if ok && loc.Scheme != giturl.SchemeHTTP {
		base := "/" + url.PathEscape(strings.ToLower(at.Organization))
		return &repo{
			organization: c.organization(publicServer+base, identityServer+base), project: at.Project, name: at.Repo,
		}, nil
	}
	reason := cmp.Or(loc.Host, "this machine") + " is another server"
	if loc.IsAzure() && loc.Scheme != giturl.SchemeHTTP {
		reason = "the path of a repo is organization/project/_git/repo"
	}
	return nil, &githost.Error{
		Op:   "find " + loc.String() + " on the " + hostName + " server " + publicServer,
		Kind: githost.ErrOtherHost, Cause: errors.New(reason), Host: hostName, Block: hostBlock,
	}
}

// serverRepo returns a repo of the collection of a server.
func (c *Client) serverRepo(repoURL string) (githost.Repo, error) {
	server := githost.Server{Name: hostName, Block: hostBlock, Web: c.web}
	parts, err := server.Find(repoURL, "the path of a repo is "+strings.TrimPrefix(c.web.Path, "/")+"/project/_git/repo",
		func(parts []string) bool {
			n := len(parts)
			return n == 2 && parts[0] == gitFolder || n == 3 && parts[0] != "" && parts[1] == gitFolder && parts[2] != ""
		})
	if err != nil {
		return nil, err
	}
	name := parts[len(parts)-1]
	if len(parts) == 2 { // the project's first repo has its name
		parts[0] = name
	}
	base := c.web.String()
	return &repo{organization: c.organization(base, base), project: parts[0], name: name}, nil
}

// gitFolder separates a project from its repos in a URL.
const gitFolder = "_git"

// organization is an organisation, or a collection of a server. Its names and numbers are looked up once.
type organization struct {
	client   *Client
	web      string // address of its pages and of its API
	git      git.ClientImpl
	identity identity.ClientImpl
	location location.ClientImpl

	mu         sync.Mutex
	me         *person
	identities map[string]string // ids by name
	repos      map[string]*git.GitRepository
}

func (c *Client) organization(web, identities string) *organization {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.all[web]; o != nil {
		return o
	}
	connection := azuredevops.NewAnonymousConnection(web) // our transport has the credential
	connection.UserAgent = c.UserAgent
	client := func(base string) azuredevops.Client {
		return *azuredevops.NewClientWithOptions(connection, base, azuredevops.WithHTTPClient(c.http))
	}
	o := &organization{
		client: c, web: web, git: git.ClientImpl{Client: client(web)}, location: location.ClientImpl{Client: client(web)},
		identity:   identity.ClientImpl{Client: client(identities)},
		identities: map[string]string{}, repos: map[string]*git.GitRepository{},
	}
	c.all[web] = o
	return o
}

// repo is a repo of an organisation.
type repo struct {
	*organization
	project, name string
}

var (
	_ githost.Repo            = (*repo)(nil)
	_ githost.SettingsChecker = (*repo)(nil)
)

func (r *repo) String() string { return r.project + "/" + r.name }

// gitUser is the user name with a token: Azure accepts any.
const gitUser = "kalypso"

// GitCredential implements [githost.Repo].
func (r *repo) GitCredential(ctx context.Context) (username, password, bearer string, err error) {
	switch c := r.client; {
	case c.Entra != nil:
		bearer, err = c.entraToken(ctx)
		return "", "", bearer, r.wrapError("read "+r.String()+" with Git", err)
	case isJWT(c.Token):
		return "", "", c.Token, nil
	case c.Token != "":
		return gitUser, c.Token, "", nil
	}
	return "", "", "", nil
}

// page returns a page of the repo.
func (r *repo) page(path string) string {
	return r.web + "/" + url.PathEscape(r.project) + "/" + gitFolder + "/" + url.PathEscape(r.name) + "/" + path
}

func (r *repo) CommitURL(commit string) string { return r.page("commit/" + url.PathEscape(commit)) }

func (r *repo) CompareURL(from, to string) string {
	return r.page("branchCompare?baseVersion=GC" + url.QueryEscape(from) + "&targetVersion=GC" + url.QueryEscape(to))
}

// maxTitle and maxBody are limits in UTF-16 units. Azure accepts 4,000 for a description, and proposes title and
// description as the message of a merge, which may not be longer.
const (
	maxTitle = 256
	maxBody  = 3700
)

func (r *repo) MaxTitle() int { return maxTitle }

func (r *repo) MaxBody() int { return maxBody }

// CommitMessage implements [githost.Repo]: Azure DevOps reads no command in it.
func (r *repo) CommitMessage(message string) string { return message }

// MarkerFirst implements [githost.Repo]: Azure's lists cut descriptions.
func (r *repo) MarkerFirst() bool { return true }
