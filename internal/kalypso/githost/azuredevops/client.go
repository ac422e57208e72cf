// Package azuredevops implements [githost.Host] for Azure DevOps: Azure DevOps Services, or a collection of an Azure
// DevOps Server.
package azuredevops

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/identity"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/location"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Config configures the access to the API.
type Config struct {
	// Access has the personal access token, or the token of a pipeline. Without it, Azure only serves public projects.
	// BaseURL is of a collection of a server of one's own; "": Azure DevOps Services.
	httpapi.Access
	// Organizations are the organisations that get the token, case-insensitive; empty: all.
	Organizations []string
	// Entra returns a Microsoft Entra token other than the refused one. An error that wraps [githost.ErrUnavailable] means
	// that Entra did not answer. If Entra is nil, Token is the credential.
	Entra func(ctx context.Context, refused string) (string, error)
}

// Client is a [githost.Host]. It is safe for concurrent use.
type Client struct {
	Config
	server *httpapi.API
	web    *url.URL // of the collection, or of Azure DevOps Services, without a slash at its end
	http   *http.Client
	// others is the client for organisations that must not get the token. It is nil if all organisations get it.
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

// The servers of Azure DevOps Services. Identities have a separate server.
var (
	publicServer   = &url.URL{Scheme: "https", Host: "dev.azure.com"}
	identityServer = &url.URL{Scheme: "https", Host: "vssps.dev.azure.com"}
)

// New returns a client. It contacts no server.
func New(c Config) (*Client, error) {
	client := &Client{Config: c, web: publicServer, all: map[string]*organization{}}
	if len(c.Organizations) > 0 {
		anonymous := c
		anonymous.Token, anonymous.Organizations = "", nil
		var err error
		client.others, err = New(anonymous)
		if err != nil {
			return nil, err
		}
	}
	roots := []*url.URL{publicServer.JoinPath("/"), identityServer.JoinPath("/")}
	if c.BaseURL != "" {
		u, err := httpapi.ParseBase(c.BaseURL, "")
		if err != nil || strings.Trim(u.Path, "/") == "" {
			return nil, errors.New("the base URL is not the URL of a collection, such as https://tfs.acme.io/tfs/Main")
		}
		client.web = &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: u.Path}
		roots = []*url.URL{{Scheme: u.Scheme, Host: u.Host, Path: u.Path + "/"}}
	}
	client.server = httpapi.New(httpapi.Config{
		Access: c.Access, Host: hostName, Block: hostBlock, Roots: roots, Message: message, Kinds: kinds,
		Advise: client.advise, Limited: limited, IsSignIn: isSignIn, Unusable: unusable,
	})
	client.http = client.server.Client(client.authorization())
	return client, nil
}

// authorization authenticates requests with the token, or with tokens from Entra.
func (c *Client) authorization() httpapi.Authorization {
	auth := httpapi.TokenAuthorization(c.Token)
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
		return "", &githost.Error{Kind: kind, Cause: err}
	}
	return token, nil
}

// isJWT reports whether a token is a JWT, such as a pipeline's token, which is sent as a bearer token. Personal access
// tokens are not JWTs.
func isJWT(token string) bool {
	return strings.HasPrefix(token, "eyJ") && strings.Count(token, ".") == 2
}

// Repo implements [githost.Host].
func (c *Client) Repo(repoURL string) (githost.Repo, error) {
	server := githost.Server{Name: hostName, Block: hostBlock, Web: c.web}
	if c.BaseURL != "" {
		return c.serverRepo(server, repoURL)
	}
	loc, err := giturl.Parse(repoURL)
	if err != nil {
		return githost.Repo{}, err
	}
	at, ok := loc.AzureRepo()
	if ok && c.others != nil && len(sets.WithoutFold([]string{at.Organization}, c.Organizations)) > 0 {
		return c.others.Repo(repoURL)
	}
	if ok && loc.Scheme != giturl.SchemeHTTP {
		base := "/" + url.PathEscape(strings.ToLower(at.Organization))
		return c.organization(publicServer.String()+base, identityServer.String()+base).repo(at.Project, at.Repo), nil
	}
	form := ""
	if loc.IsAzure() && loc.Scheme != giturl.SchemeHTTP {
		form = "the path of a repo is organization/project/_git/repo"
	}
	return githost.Repo{}, server.Other(loc, form)
}

// serverRepo returns a repo of the collection of a server.
func (c *Client) serverRepo(server githost.Server, repoURL string) (githost.Repo, error) {
	parts, err := server.Find(repoURL, "the path of a repo is "+strings.TrimPrefix(c.web.Path, "/")+"/project/_git/repo",
		func(parts []string) bool {
			n := len(parts)
			return n == 2 && parts[0] == gitFolder || n == 3 && parts[0] != "" && parts[1] == gitFolder && parts[2] != ""
		})
	if err != nil {
		return githost.Repo{}, err
	}
	name := parts[len(parts)-1]
	if len(parts) == 2 { // the first repo of a project has the project's name
		parts[0] = name
	}
	base := c.web.String()
	return c.organization(base, base).repo(parts[0], name), nil
}

// gitFolder separates a project from its repos in a URL.
const gitFolder = "_git"

// organization is an organisation, or a collection of a server. Its names and numbers are looked up once.
type organization struct {
	client *Client
	server *httpapi.API
	web    string // address of its pages and of its API

	git      git.ClientImpl
	identity identity.ClientImpl
	location location.ClientImpl

	me          httpapi.Lookups[person]
	identityIDs httpapi.Lookups[string] // by the name of a user or team
	repos       httpapi.Lookups[*git.GitRepository]
}

func (c *Client) organization(web, identityServer string) *organization {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.all[web]; o != nil {
		return o
	}
	connection := azuredevops.NewAnonymousConnection(web) // our transport adds the credential and the user agent
	client := func(base string) azuredevops.Client {
		return *azuredevops.NewClientWithOptions(connection, base, azuredevops.WithHTTPClient(c.http))
	}
	o := &organization{
		client: c, server: c.server, web: web, git: git.ClientImpl{Client: client(web)},
		identity: identity.ClientImpl{Client: client(identityServer)}, location: location.ClientImpl{Client: client(web)},
	}
	c.all[web] = o
	return o
}

// repo is a repo of an organisation.
type repo struct {
	*organization
	traits        githost.Traits
	project, name string
}

// pullRequests and statuses are the two parts of a [githost.Repo].
type (
	pullRequests struct{ *repo }
	statuses     struct{ *repo }
)

func (o *organization) repo(project, name string) githost.Repo {
	r := &repo{organization: o, project: project, name: name}
	r.traits = githost.Traits{
		Host: hostName, Block: hostBlock, Noun: "pull request", Repository: project + "/" + name,
		Pages: o.web + "/" + url.PathEscape(project) + "/" + gitFolder + "/" + url.PathEscape(name) + "/",
		ComparePage: func(from, to string) string {
			return "branchCompare?baseVersion=GC" + url.QueryEscape(from) + "&targetVersion=GC" + url.QueryEscape(to)
		},
		// The limits are in UTF-16 units. Azure accepts 4,000 for a description. By default, title and description together
		// become the message of a merge, which has the same limit. Azure's lists cut descriptions.
		MaxTitle: 256, MaxBody: 3700, MarkerFirst: true,
		CheckReviewer: checkReviewer, Methods: githost.MergeMethods,
	}
	pulls, commits := &pullRequests{r}, &statuses{r}
	return githost.Repo{
		Traits: r.traits, PullRequests: r.traits.PullRequestsBy(pulls, pulls, r.server.Error),
		CheckSettings: pulls.checkSettings,
		CommitStatuses: githost.StatusRequests{
			Traits: r.traits, Set: commits.set, List: commits.list, Login: commits.login, SeenAt: r.server.SeenAt,
			Failed: r.server.Error,
		},
		GitCredential: r.gitCredential,
	}
}

// gitUser is the user name that is sent with a token. Azure accepts any name.
const gitUser = "kalypso"

// gitCredential implements [githost.Repo].
func (r *repo) gitCredential(ctx context.Context) (username, password, bearer string, err error) {
	switch c := r.client; {
	case c.Entra != nil:
		bearer, err = c.entraToken(ctx)
		return "", "", bearer, r.server.Error("read "+r.traits.Repository+" with Git", err)
	case isJWT(c.Token):
		return "", "", c.Token, nil
	case c.Token != "":
		return gitUser, c.Token, "", nil
	}
	return "", "", "", nil
}
