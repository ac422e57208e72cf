// Package github is GitHub, on github.com or a server of one's own, as a
// [hosting.Host].
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
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
)

// Config says how the API is reached, and as whom.
type Config struct {
	Token string // or App; neither is nobody, whom GitHub shows public repos alone
	App   *App
	// Credential says where people set token or app, for errors.
	Credential string
	BaseURL    string            // of a GitHub Enterprise server; "" is github.com
	UserAgent  string            // "" is the library's
	Transport  http.RoundTripper // nil: over the network, by the proxies of the environment
	Clock      Clock             // nil: the machine's
	// Secrets are taken out of all errors, and get those of the client; nil: it has its own alone.
	Secrets *redact.Secrets
	// Waiting is told, where it is not nil, of each wait before another attempt.
	OnRetry func(ctx context.Context, reason error, wait time.Duration)
}

// Clock is the time, and waiting for it to pass.
type Clock interface {
	Now() time.Time
	// Wait waits that long, or until the context ends and then gives its error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Client is a GitHub. It may be used by several at once.
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

// New makes a client. It contacts nobody.
func New(c Config) (*Client, error) {
	at, err := endpointsOf(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Transport == nil {
		c.Transport = network()
	}
	if c.Clock == nil {
		c.Clock = machineClock{}
	}
	if c.Secrets == nil {
		c.Secrets = &redact.Secrets{}
	}
	c.Secrets.Add(c.Token)
	auth := &authorisation{credential: func(context.Context) (string, error) { return c.Token, nil }}
	if c.App != nil {
		c.Secrets.Add(c.App.PrivateKey)
		tokens, err := newInstallation(c, at)
		if err != nil {
			return nil, err
		}
		auth = &authorisation{credential: tokens.get, renew: tokens.forget}
	}
	return &Client{
		api: newAPI(c, at, auth), graph: at.graphql.String(), web: at.web, token: auth.credential, clock: c.Clock,
		credential: c.Credential,
	}, nil
}

// newAPI is go-github above our own transport. What go-github would do by
// itself with redirects and rate limits, the transport has done before.
func newAPI(c Config, at endpoints, auth *authorisation) *github.Client {
	api := github.NewClient(&http.Client{
		Transport: &transport{
			base: c.Transport, clock: c.Clock, api: at, auth: auth, secrets: c.Secrets, told: c.OnRetry,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	api.BaseURL = at.rest
	if c.UserAgent != "" {
		api.UserAgent = c.UserAgent
	}
	return api
}

// answerTimeout is for how long an attempt waits for the answer's beginning.
const answerTimeout = time.Minute

func network() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.ResponseHeaderTimeout = answerTimeout
	return t
}

type machineClock struct{}

func (machineClock) Now() time.Time {
	return time.Now() //nolint:forbidigo // the one place where the machine's clock comes in
}

func (machineClock) Sleep(ctx context.Context, d time.Duration) error {
	return clock.Sleep(ctx, d)
}

type endpoints struct{ rest, graphql, web *url.URL }

// publicHost is where GitHub serves everybody, and residency where it serves
// enterprises. There the API has a host of its own, "api." before the web's;
// on anybody's own server it has paths of its own.
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
		return endpoints{}, errors.New("the base URL is no absolute URL, such as https://github.acme.io/")
	}
	folder := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api/v3")
	at := func(host, path string) *url.URL { return &url.URL{Scheme: u.Scheme, Host: host, Path: path} }
	host, apiHost := strings.CutPrefix(strings.ToLower(u.Host), "api.")
	if apiHost || host == publicHost || strings.HasSuffix(host, residency) {
		return endpoints{at("api."+host, folder+"/"), at("api."+host, folder+"/graphql"), at(host, folder)}, nil
	}
	return endpoints{at(u.Host, folder+"/api/v3/"), at(u.Host, folder+"/api/graphql"), at(host, folder)}, nil
}

// name is what GitHub lets owners and repos be called.
var name = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// Repo is [hosting.Host]'s.
func (c *Client) Repo(repoURL string) (hosting.Repo, error) {
	loc, err := gitremote.ParseURL(repoURL)
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
	if !named || gitremote.AmbiguousPath(loc.Path) {
		return nil, other("a repo on GitHub has the path owner/name")
	}
	return &repo{client: c, owner: parts[0], name: parts[1]}, nil
}

// hosts reports whether a repo lies on this server. SSH has a port, and may
// have a host, of its own.
func (c *Client) hosts(loc gitremote.Location) bool {
	switch loc.Scheme {
	case "https", "http":
		web, err := gitremote.ParseURL(c.web.Scheme + "://" + c.web.Host + "/")
		return err == nil && web.Host == loc.Host && web.Port == loc.Port
	case "ssh":
		host := strings.ToLower(c.web.Hostname())
		return loc.Host == host || loc.Host == "ssh."+host
	}
	return false
}

// gitUser is the name that GitHub takes with a token of any kind.
const gitUser = "x-access-token"

// GitPassword is [hosting.Repo]'s. An app's token is one to write contents, or to read them where the app may do no more. A
// repo that it is not installed for may be public: that one is opened with nothing.
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

// repo is one repo of a client.
type repo struct {
	client      *Client
	owner, name string
}

var _ hosting.Repo = (*repo)(nil)

// failed makes a *[hosting.Error] of what go-github returns.
func (r *repo) failed(doing string, err error) error {
	err = failed(doing, err)
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
