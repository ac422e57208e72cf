// Package github implements [githost.Host] for GitHub: github.com or a GitHub Enterprise server.
//
// It stays on v53 of go-github, which has every REST field that is used here; GraphQL needs requests of our own in any
// version. The faults of v53 in rate limits have no effect, because our transport handles limits before the library
// sees an answer.
package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// Config configures the access to the API.
type Config struct {
	httpapi.Access      // BaseURL is of a GitHub Enterprise server; "": github.com
	App            *App // authenticates instead of a token; nil: none
}

// Client is a [githost.Host]. It is safe for concurrent use.
type Client struct {
	server *httpapi.API
	api    *github.Client
	graph  string // URL of GraphQL
	web    *url.URL
	token  func(context.Context) (string, error)
	logins httpapi.Lookups[string] // of the user or app that the credential belongs to
}

var _ githost.Host = (*Client)(nil)

// New returns a client. It contacts no server.
func New(c Config) (*Client, error) {
	at, err := endpointsOf(c.BaseURL)
	if err != nil {
		return nil, err
	}
	server := httpapi.New(httpapi.Config{
		Access: c.Access, Host: hostName, Block: hostBlock, Roots: []*url.URL{at.rest, at.graphql},
		Message: func(body []byte) string { return parseAnswer(body).text() }, Limited: limited, Kinds: kinds,
		Advise: advise,
	})
	auth := httpapi.TokenAuthorization(c.Token)
	if c.App != nil {
		server.Secrets.Add(c.App.PrivateKey)
		tokens, err := newInstallation(*c.App, server, at.rest)
		if err != nil {
			return nil, err
		}
		auth.Credential, auth.Renew = tokens.get, tokens.forget
	}
	return &Client{
		server: server, api: restClient(server, at.rest, auth), graph: at.graphql.String(), web: at.web,
		token: auth.Credential,
	}, nil
}

// restClient returns a go-github client over our own transport, which handles redirects and rate limits in its place.
func restClient(server *httpapi.API, rest *url.URL, auth httpapi.Authorization) *github.Client {
	api := github.NewClient(server.Client(auth))
	api.BaseURL = rest
	return api
}

type endpoints struct{ rest, graphql, web *url.URL }

// GitHub's public server is publicHost. Enterprises with data residency have subdomains of residency. Both serve the
// API on a separate host with the prefix "api.". A GitHub Enterprise server serves it below paths of its own.
const (
	publicHost = "github.com"
	residency  = ".ghe.com"
)

func endpointsOf(base string) (endpoints, error) {
	if base == "" {
		base = "https://" + publicHost
	}
	u, err := httpapi.ParseBase(base, "https://github.acme.io/")
	if err != nil {
		return endpoints{}, err
	}
	folder := strings.TrimSuffix(u.Path, "/api/v3")
	at := func(host, path string) *url.URL { return &url.URL{Scheme: u.Scheme, Host: host, Path: path} }
	host, apiHost := strings.CutPrefix(strings.ToLower(u.Host), "api.")
	if apiHost || host == publicHost || strings.HasSuffix(host, residency) {
		return endpoints{at("api."+host, folder+"/"), at("api."+host, folder+"/graphql"), at(host, folder)}, nil
	}
	return endpoints{at(u.Host, folder+"/api/v3/"), at(u.Host, folder+"/api/graphql"), at(host, folder)}, nil
}

// Names that users know the host by.
const (
	hostName  = "GitHub"
	hostBlock = "github"
)

// Repo implements [githost.Host].
func (c *Client) Repo(repoURL string) (githost.Repo, error) {
	host := strings.ToLower(c.web.Hostname())
	server := githost.Server{Name: hostName, Block: hostBlock, Web: c.web, SSH: []string{host, "ssh." + host}}
	parts, err := server.Find(repoURL, "the path of a GitHub repo is owner/name", githost.OwnerAndName)
	if err != nil {
		return githost.Repo{}, err
	}
	r := &repo{client: c, server: c.server, owner: parts[0], name: parts[1]}
	r.traits = githost.Traits{
		Host: hostName, Block: hostBlock, Noun: "pull request", Repository: r.owner + "/" + r.name,
		MaxTitle: 256, MaxBody: 65536, Pages: c.web.String() + "/" + r.owner + "/" + r.name + "/",
		CheckReviewer: githost.CheckTeam(r.owner), Methods: githost.MergeMethods,
	}
	pulls, commits := &pullRequests{r}, &statuses{r}
	return githost.Repo{
		Traits: r.traits, PullRequests: r.traits.PullRequestsBy(pulls, pulls, c.server.Error), Queues: pulls,
		Issues: c.issues(r),
		CommitStatuses: githost.StatusRequests{
			Traits: r.traits, Set: commits.set, List: commits.list, Latest: commits.latest, Failed: c.server.Error,
		},
		GitCredential: r.gitCredential,
	}, nil
}

// gitUser is the user name that GitHub accepts with any kind of token.
const gitUser = "x-access-token"

// gitCredential implements [githost.Repo]. An app's token may write contents, or only read them if the app lacks the
// permission to write. If the app is not installed for a repo, the repo may still be public, so it is accessed without
// a credential.
func (r *repo) gitCredential(ctx context.Context) (username, password, bearer string, err error) {
	var token string
	for _, access := range []string{"write", "read"} {
		token, err = r.client.token(r.with(ctx, "contents: "+access))
		if !errors.Is(err, githost.ErrForbidden) {
			break
		}
	}
	switch {
	case githost.Says(err, saysNotInstalled):
		return "", "", "", nil
	case err != nil || token == "":
		return "", "", "", err
	}
	return gitUser, token, "", nil
}

// repo is a repo of a client.
type repo struct {
	client      *Client
	server      *httpapi.API
	traits      githost.Traits
	owner, name string
}

// pullRequests and statuses are parts of a [githost.Repo].
type (
	pullRequests struct{ *repo }
	statuses     struct{ *repo }
)

// issues returns the issues of a repo.
func (c *Client) issues(r *repo) githost.Issues {
	return &httpapi.Issues{
		Traits: r.traits, Query: "state=all&sort=created&direction=desc", SizeName: "per_page", Size: pageSize,
		Creator: "creator", Login: r.login, Failed: r.server.Error,
		Call: func(ctx context.Context, op, method, path string, body, into any) (http.Header, error) {
			access := "write"
			if method == http.MethodGet {
				access = "read"
			}
			ctx = r.with(ctx, "issues: "+access)
			header, err := r.call(ctx, method, "repos/"+r.owner+"/"+r.name+"/issues"+path, body, into)
			return header, r.server.Error(op, err)
		},
	}
}

// login returns the login of the user or app that the credential belongs to, such as "octocat", "acme-kalypso[bot]" or
// "github-actions[bot]". The REST API answers this question only to users.
func (r *repo) login(ctx context.Context) (string, error) {
	return r.client.logins.Get("", func() (string, error) {
		var answer struct{ Viewer struct{ Login string } }
		err := r.query(r.with(ctx, "issues: read"), "query { viewer { login } }", nil, &answer)
		return r.server.Login(answer.Viewer.Login, err)
	})
}

// call sends a request that the library has no method for. It returns the headers of the answer.
func (r *repo) call(ctx context.Context, method, address string, body, into any) (http.Header, error) {
	req, err := r.client.api.NewRequest(method, address, body)
	if err != nil {
		return nil, err
	}
	resp, err := r.client.api.Do(ctx, req, into)
	if err != nil {
		return nil, err
	}
	return resp.Header, nil
}
