// Package gitea implements [githost.Host] for a Gitea server. Forgejo has the same API and is meant to work; it is not
// tested.
package gitea

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
)

// Config configures the access to the API.
type Config struct {
	Token string // "": only public repos can be read
	// Credential names where users configure the token, for errors.
	Credential string
	BaseURL    string            // of the server, such as https://git.acme.io/; it may have a folder
	UserAgent  string            // "": Go's
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
	http *http.Client
	web  *url.URL // without a slash at the end

	// creating is locked while labels are created: Gitea keeps several labels of one name.
	creating sync.Mutex
	mu       sync.Mutex
	user     string // that the token belongs to; "": not read yet
}

var _ githost.Host = (*Client)(nil)

// New returns a client. It contacts no server.
func New(c Config) (*Client, error) {
	web, err := url.Parse(c.BaseURL)
	if err != nil || web.Host == "" || web.Scheme != "https" && web.Scheme != "http" {
		return nil, errors.New("the base URL is not an absolute URL such as https://git.acme.io/")
	}
	web = &url.URL{Scheme: web.Scheme, Host: web.Host, Path: strings.TrimRight(web.Path, "/")}
	if c.Secrets == nil {
		c.Secrets = &redact.Secrets{}
	}
	c.Secrets.Add(c.Token)
	if c.Clock == nil {
		c.Clock = httpapi.MachineClock{}
	}
	client := &Client{Config: c, web: web}
	root := *web
	root.Path += apiPath + "/"
	client.http = httpapi.New(httpapi.Config{
		Host: hostName, Roots: []*url.URL{&root}, Message: message,
		Limited: func(resp *http.Response, _ []byte) (time.Time, bool) {
			return time.Time{}, resp.StatusCode == http.StatusTooManyRequests
		},
		NullIsEmpty: true, // as a Go server
		Transport:   c.Transport, Clock: c.Clock, HeaderTimeout: c.HeaderTimeout, Secrets: c.Secrets, OnRetry: c.OnRetry,
	}).Client(httpapi.Authorization{
		Credential: func(context.Context) (string, error) { return c.Token, nil }, Set: httpapi.Bearer,
	})
	return client, nil
}

// apiPath is the path of the API below the server's address.
const apiPath = "/api/v1"

// Names that users know the host by.
const (
	hostName  = "Gitea"
	hostBlock = "gitea"
)

// Name implements [githost.Host].
func (*Client) Name() string { return hostName }

// Block implements [githost.Host].
func (*Client) Block() string { return hostBlock }

// name matches valid names of owners and repos.
var name = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// Repo implements [githost.Host].
func (c *Client) Repo(repoURL string) (githost.Repo, error) {
	server := githost.Server{
		Name: hostName, Block: hostBlock, Web: c.web, SSH: []string{strings.ToLower(c.web.Hostname())},
	}
	parts, err := server.Find(repoURL, "the path of a Gitea repo is "+strings.TrimPrefix(c.web.Path+"/owner/name", "/"),
		func(parts []string) bool {
			return len(parts) == 2 && name.MatchString(parts[0]) && name.MatchString(parts[1])
		})
	if err != nil {
		return nil, err
	}
	return &repo{client: c, owner: parts[0], name: parts[1]}, nil
}

// login returns the login of the user that the token belongs to.
func (c *Client) login(ctx context.Context, op string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.user != "" {
		return c.user, nil
	}
	var me user
	_, err := c.call(ctx, op, http.MethodGet, "/user", nil, &me)
	c.user = me.Login
	return c.user, err
}

// repo is a repo of a client.
type repo struct {
	client      *Client
	owner, name string
}

var _ githost.Repo = (*repo)(nil)

func (r *repo) String() string { return r.owner + "/" + r.name }

// gitUser is the user name with a token: Gitea accepts any.
const gitUser = "kalypso"

// GitCredential implements [githost.Repo].
func (r *repo) GitCredential(context.Context) (username, password, bearer string, err error) {
	if r.client.Token == "" {
		return "", "", "", nil
	}
	return gitUser, r.client.Token, "", nil
}

func (r *repo) page(path string) string {
	return r.client.web.String() + "/" + r.owner + "/" + r.name + "/" + path
}

func (r *repo) CommitURL(commit string) string { return r.page("commit/" + url.PathEscape(commit)) }

func (r *repo) CompareURL(from, to string) string {
	return r.page("compare/" + url.PathEscape(from) + "..." + url.PathEscape(to))
}

// maxTitle and maxBody are limits in characters. Gitea cuts a title silently at 255 columns, of which wide characters
// and the prefix of a draft take more; for the body it has no limit.
const (
	maxTitle = 125
	maxBody  = 65536
)

func (r *repo) MaxTitle() int { return maxTitle }

func (r *repo) MaxBody() int { return maxBody }

// CommitMessage implements [githost.Repo]: Gitea reads no command in it.
func (r *repo) CommitMessage(message string) string { return message }

// MarkerFirst implements [githost.Repo]: Gitea's lists contain whole descriptions.
func (r *repo) MarkerFirst() bool { return false }
