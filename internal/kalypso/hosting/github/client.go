// Package github implements [hosting.Host] for GitHub: github.com or a GitHub Enterprise server.
package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
)

// Config configures the access to the API.
type Config struct {
	Token string // or App; with neither, GitHub only serves public repos
	App   *App
	// Credential names where users configure token or app, for errors.
	Credential string
	BaseURL    string            // of a GitHub Enterprise server; "": github.com
	UserAgent  string            // "": the library's
	Transport  http.RoundTripper // nil: the network, with the proxies of the environment
	Clock      Clock             // nil: the machine's
	// HeaderTimeout bounds the time until an answer begins, on the network; 0: a minute.
	HeaderTimeout time.Duration
	// Secrets are redacted in all errors. The client adds its own. Nil: only its own.
	Secrets *redact.Secrets
	// OnRetry, if set, is called before each wait for another attempt.
	OnRetry func(ctx context.Context, reason error, wait time.Duration)
}

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx is done. If ctx is done first, it returns its error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Client is a [hosting.Host]. It is safe for concurrent use.
type Client struct {
	api   *github.Client
	graph string // URL of GraphQL
	web   *url.URL
	token func(context.Context) (string, error)
	clock Clock
	// credential is [Config.Credential].
	credential string
}

var _ hosting.Host = (*Client)(nil)

// New returns a client. It contacts no server.
func New(c Config) (*Client, error) {
	at, err := endpointsOf(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Transport == nil {
		c.Transport = network(cmp.Or(c.HeaderTimeout, headerTimeout))
	}
	if c.Clock == nil {
		c.Clock = machineClock{}
	}
	if c.Secrets == nil {
		c.Secrets = &redact.Secrets{}
	}
	c.Secrets.Add(c.Token)
	auth := &authorization{credential: func(context.Context) (string, error) { return c.Token, nil }}
	if c.App != nil {
		c.Secrets.Add(c.App.PrivateKey)
		tokens, err := newInstallation(c, at)
		if err != nil {
			return nil, err
		}
		auth = &authorization{credential: tokens.get, renew: tokens.forget}
	}
	return &Client{
		api: newAPI(c, at, auth), graph: at.graphql.String(), web: at.web, token: auth.credential, clock: c.Clock,
		credential: c.Credential,
	}, nil
}

// newAPI returns a go-github client over our own transport, which handles redirects and rate limits in its place.
func newAPI(c Config, at endpoints, auth *authorization) *github.Client {
	api := github.NewClient(&http.Client{
		Transport: &transport{
			base: c.Transport, clock: c.Clock, api: at, auth: auth, secrets: c.Secrets, onRetry: c.OnRetry,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	api.BaseURL = at.rest
	if c.UserAgent != "" {
		api.UserAgent = c.UserAgent
	}
	return api
}

// headerTimeout is the default of [Config.HeaderTimeout].
const headerTimeout = time.Minute

// network returns a transport with Go's defaults, which have no timeout for an answer to begin.
func network(headerTimeout time.Duration) http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.ResponseHeaderTimeout = headerTimeout
	return t
}

type machineClock struct{}

func (machineClock) Now() time.Time {
	return time.Now() //nolint:forbidigo // the only use of the machine's clock
}

func (machineClock) Sleep(ctx context.Context, d time.Duration) error {
	return clock.Sleep(ctx, d)
}

type endpoints struct{ rest, graphql, web *url.URL }

// GitHub serves everybody on publicHost, and enterprises on subdomains of residency. Both have the API on a separate
// host with the prefix "api."; a GitHub Enterprise server has it below its own paths.
const (
	publicHost = "github.com"
	residency  = ".ghe.com"
)

func endpointsOf(base string) (endpoints, error) {
	if base == "" {
		base = "https://" + publicHost
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return endpoints{}, errors.New("the base URL is not an absolute URL such as https://github.acme.io/")
	}
	folder := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api/v3")
	at := func(host, path string) *url.URL { return &url.URL{Scheme: u.Scheme, Host: host, Path: path} }
	host, apiHost := strings.CutPrefix(strings.ToLower(u.Host), "api.")
	if apiHost || host == publicHost || strings.HasSuffix(host, residency) {
		return endpoints{at("api."+host, folder+"/"), at("api."+host, folder+"/graphql"), at(host, folder)}, nil
	}
	return endpoints{at(u.Host, folder+"/api/v3/"), at(u.Host, folder+"/api/graphql"), at(host, folder)}, nil
}

// name matches valid names of owners and repos.
var name = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// Repo implements [hosting.Host].
func (c *Client) Repo(repoURL string) (hosting.Repo, error) {
	loc, err := repourl.Parse(repoURL)
	if err != nil {
		return nil, err
	}
	other := func(reason string) error {
		return &hosting.Error{
			Op:   "find " + loc.String() + " on the GitHub server " + c.web.String(),
			Kind: hosting.ErrOtherHost, Cause: errors.New(reason),
		}
	}
	if !c.hosts(loc) {
		return nil, other(cmp.Or(loc.Host, "this machine") + " is another server")
	}
	inside, ok := strings.CutPrefix("/"+strings.Trim(loc.Path, "/"), c.web.Path+"/")
	parts := strings.Split(strings.TrimSuffix(inside, ".git"), "/")
	named := ok && len(parts) == 2 && name.MatchString(parts[0]) && name.MatchString(parts[1])
	if !named || repourl.AmbiguousPath(loc.Path) {
		return nil, other("the path of a GitHub repo is owner/name")
	}
	return &repo{client: c, owner: parts[0], name: parts[1]}, nil
}

// hosts reports whether a repo is on this server. SSH uses its own port, and may use its own host.
func (c *Client) hosts(loc repourl.URL) bool {
	switch loc.Scheme {
	case repourl.SchemeHTTPS, repourl.SchemeHTTP:
		web, err := repourl.Parse(c.web.Scheme + "://" + c.web.Host + "/")
		return err == nil && web.Host == loc.Host && web.Port == loc.Port
	case repourl.SchemeSSH:
		host := strings.ToLower(c.web.Hostname())
		return loc.Host == host || loc.Host == "ssh."+host
	}
	return false
}

// gitUser is the user name that GitHub accepts with any kind of token.
const gitUser = "x-access-token"

// GitPassword implements [hosting.Repo]. An app's token may write contents, or only read them if the app has no more
// permissions. A repo without the app may be public, and is accessed without a credential.
func (r *repo) GitPassword(ctx context.Context) (username, password string, err error) {
	var token string
	for _, access := range []string{write, read} {
		token, err = r.client.token(r.with(ctx, scope{contents: access}))
		if !errors.Is(err, hosting.ErrForbidden) {
			break
		}
	}
	switch {
	case notInstalled(err):
		return "", "", nil
	case err != nil || token == "":
		return "", "", err
	}
	return gitUser, token, nil
}

// repo is a repo of a client.
type repo struct {
	client      *Client
	owner, name string
}

var _ hosting.Repo = (*repo)(nil)

// wrapError converts an error of go-github to a *[hosting.Error] that names the credential.
func (r *repo) wrapError(op string, err error) error {
	err = wrapError(op, err)
	var e *hosting.Error
	if errors.As(err, &e) {
		e.Credential = r.client.credential
	}
	return err
}

func (r *repo) String() string { return r.owner + "/" + r.name }

func (r *repo) page(path string) string {
	return r.client.web.String() + "/" + r.owner + "/" + r.name + "/" + path
}

func (r *repo) CommitURL(commit string) string { return r.page("commit/" + url.PathEscape(commit)) }

func (r *repo) CompareURL(from, to string) string {
	return r.page("compare/" + url.PathEscape(from) + "..." + url.PathEscape(to))
}

// maxTitle and maxBody are GitHub's limits, in characters.
const (
	maxTitle = 256
	maxBody  = 65536
)

func (r *repo) MaxTitle() int { return maxTitle }

func (r *repo) MaxBody() int { return maxBody }
