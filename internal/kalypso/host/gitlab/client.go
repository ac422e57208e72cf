// Package gitlab implements [githost.Host] for GitLab: gitlab.com or a server of one's own.
package gitlab

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
)

// Config configures the access to the API.
type Config struct {
	// Token is a personal, project, group or OAuth access token. Without it, GitLab only serves public projects.
	Token string
	// Credential names where users configure the token, for errors.
	Credential string
	BaseURL    string            // of a server of one's own, with or without a folder; "": gitlab.com
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
	api   *gitlab.Client
	web   *url.URL
	token string
	clock httpapi.Clock
	// credential is [Config.Credential].
	credential string
	secrets    *redact.Secrets

	projects, users lookups
}

var _ githost.Host = (*Client)(nil)

// Names that users know the host by.
const (
	hostName  = "GitLab"
	hostBlock = "gitlab"
)

const (
	publicServer = "https://gitlab.com"
	// sshHost serves Git over SSH on the port of HTTPS.
	sshHost = "altssh.gitlab.com"
	apiPath = "/api/v4"
)

// New returns a client. It contacts no server.
func New(c Config) (*Client, error) {
	web, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Secrets == nil {
		c.Secrets = &redact.Secrets{}
	}
	c.Secrets.Add(c.Token)
	if c.Clock == nil {
		c.Clock = httpapi.MachineClock{}
	}
	root := *web
	root.Path += apiPath + "/"
	transport := httpapi.New(httpapi.Config{
		Host: hostName, Roots: []*url.URL{&root}, Message: message, Limited: limited, IsSignIn: isSignIn,
		Transport: c.Transport, Clock: c.Clock, HeaderTimeout: c.HeaderTimeout, Secrets: c.Secrets, OnRetry: c.OnRetry,
	})
	client := transport.Client(httpapi.Authorization{
		Credential: func(context.Context) (string, error) { return c.Token, nil }, Set: httpapi.Bearer,
	})
	client.Transport = refusals{client.Transport}
	options := []gitlab.ClientOptionFunc{
		gitlab.WithBaseURL(root.String()), gitlab.WithoutRetries(), gitlab.WithCustomLimiter(unlimited{}),
		gitlab.WithHTTPClient(client),
	}
	if c.UserAgent != "" {
		options = append(options, gitlab.WithUserAgent(c.UserAgent))
	}
	api, err := gitlab.NewAuthSourceClient(gitlab.Unauthenticated{}, options...)
	if err != nil {
		return nil, err
	}
	return &Client{api: api, web: web, token: c.Token, clock: c.Clock, credential: c.Credential, secrets: c.Secrets}, nil
}

// unlimited replaces the library's limiter: package httpapi waits as GitLab asks.
type unlimited struct{}

func (unlimited) Wait(context.Context) error { return nil }

// parseBase returns the address of a server's web pages, without a slash at its end.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(cmp.Or(base, publicServer))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the base URL is not an absolute URL such as https://gitlab.acme.io/")
	}
	folder := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), apiPath), "/")
	return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: folder}, nil
}

// Name implements [githost.Host].
func (*Client) Name() string { return hostName }

// Block implements [githost.Host].
func (*Client) Block() string { return hostBlock }

// segment matches a valid name of a group or a project. A "-" by itself separates a project from its pages.
var segment = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]*$`)

// Repo implements [githost.Host].
func (c *Client) Repo(repoURL string) (githost.Repo, error) {
	server := githost.Server{Name: hostName, Block: hostBlock, Web: c.web, SSH: []string{c.web.Hostname()}}
	if c.web.String() == publicServer {
		server.SSH = append(server.SSH, sshHost)
	}
	parts, err := server.Find(repoURL, "the path of a GitLab project is group/project, with any number of subgroups",
		func(parts []string) bool {
			return len(parts) > 1 && !slices.ContainsFunc(parts, func(name string) bool { return !segment.MatchString(name) })
		})
	if err != nil {
		return nil, err
	}
	return &repo{client: c, path: strings.Join(parts, "/")}, nil
}

// repo is a project of a client.
type repo struct {
	client *Client
	path   string // such as group/subgroup/project
}

var _ githost.Repo = (*repo)(nil)

func (r *repo) String() string { return r.path }

// id returns the number of the project, which stays when the project moves. The client looks it up once.
func (r *repo) id(ctx context.Context) (int64, error) {
	return r.client.projects.get(r.path, func() (int64, error) {
		p, _, err := r.client.api.Projects.GetProject(r.path, nil, gitlab.WithContext(ctx))
		if err != nil {
			return 0, err
		}
		return p.ID, nil
	})
}

// lookups are numbers by name. Each is looked up once, and again after an error.
type lookups struct {
	mu  sync.Mutex
	all map[string]*lookup
}

type lookup struct {
	mu sync.Mutex
	id int64
}

func (l *lookups) get(name string, read func() (int64, error)) (int64, error) {
	l.mu.Lock()
	if l.all == nil {
		l.all = map[string]*lookup{}
	}
	if l.all[name] == nil {
		l.all[name] = &lookup{}
	}
	one := l.all[name]
	l.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.id != 0 {
		return one.id, nil
	}
	id, err := read()
	one.id = id
	return id, err
}

// gitUser is the user name that GitLab accepts with each kind of access token.
const gitUser = "oauth2"

// GitCredential implements [githost.Repo].
func (r *repo) GitCredential(context.Context) (username, password, bearer string, err error) {
	if r.client.token == "" {
		return "", "", "", nil
	}
	return gitUser, r.client.token, "", nil
}

// page returns a page of the project. Its URL needs no request: GitLab redirects from the old path of a moved project.
func (r *repo) page(path string) string { return r.client.web.String() + "/" + r.path + "/-/" + path }

func (r *repo) CommitURL(commit string) string { return r.page("commit/" + url.PathEscape(commit)) }

func (r *repo) CompareURL(from, to string) string {
	return r.page("compare/" + url.PathEscape(from) + "..." + url.PathEscape(to))
}

// maxTitle and maxBody are limits in characters. GitLab accepts 255 for a title with a draft's mark, and 1,048,576 for
// a description. The rest is room for the escapes that [escape] adds.
const (
	maxTitle = 255 - len(draftPrefix)
	maxBody  = 1_000_000
)

func (r *repo) MaxTitle() int { return maxTitle }

func (r *repo) MaxBody() int { return maxBody }

// CommitMessage implements [githost.Repo].
func (r *repo) CommitMessage(message string) string { return readyMessage(message) }

// MarkerFirst implements [githost.Repo]: GitLab's lists contain whole descriptions.
func (r *repo) MarkerFirst() bool { return false }
