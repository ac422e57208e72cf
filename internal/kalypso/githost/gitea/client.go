// Package gitea implements [githost.Host] for a Gitea server. Forgejo has the same API, so it should work, but it is
// not tested.
package gitea

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// Client is a [githost.Host]. It is safe for concurrent use.
type Client struct {
	server *httpapi.API
	http   *http.Client
	web    *url.URL // without a slash at the end

	// creating is locked while labels are created, because Gitea would create several labels with the same name.
	creating sync.Mutex
	logins   httpapi.Lookups[string] // of the user that the token belongs to
}

var _ githost.Host = (*Client)(nil)

// New returns a client. It contacts no server. The BaseURL is required.
func New(c httpapi.Access) (*Client, error) {
	web, err := httpapi.ParseBase(c.BaseURL, "https://git.acme.io/")
	if err != nil {
		return nil, err
	}
	root := *web
	root.Path += apiPath + "/"
	server := httpapi.New(httpapi.Config{
		Access: c, Host: hostName, Block: hostBlock, Roots: []*url.URL{&root}, Message: message, Kinds: kinds,
		Advise:   advise,
		Unusable: func(*http.Request, []byte) error { return nil }, // Gitea encodes an empty list as null
	})
	client := server.Client(httpapi.TokenAuthorization(c.Token))
	return &Client{web: web, server: server, http: client}, nil
}

// apiPath is the path of the API below the server's address.
const apiPath = "/api/v1"

// Names that users know the host by.
const (
	hostName  = "Gitea"
	hostBlock = "gitea"
)

// Repo implements [githost.Host].
func (c *Client) Repo(repoURL string) (githost.Repo, error) {
	server := githost.Server{
		Name: hostName, Block: hostBlock, Web: c.web, SSH: []string{strings.ToLower(c.web.Hostname())},
	}
	parts, err := server.Find(repoURL, "the path of a Gitea repo is "+strings.TrimPrefix(c.web.Path+"/owner/name", "/"),
		githost.OwnerAndName)
	if err != nil {
		return githost.Repo{}, err
	}
	r := &repo{client: c, server: c.server, owner: parts[0], name: parts[1]}
	path := r.owner + "/" + r.name
	r.traits = githost.Traits{
		Host: hostName, Block: hostBlock, Noun: "pull request", Repository: path, Pages: c.web.String() + "/" + path + "/",
		// Gitea silently cuts a title at 255 columns. Wide characters take two columns, and the prefix of a draft takes some
		// too. The body has no limit.
		MaxTitle: 125, MaxBody: 65536,
		CheckReviewer: githost.CheckTeam(r.owner), Methods: githost.MergeMethods, ExactLabels: true,
	}
	pulls, commits := &pullRequests{r}, &statuses{r}
	return githost.Repo{
		Traits: r.traits, PullRequests: r.traits.PullRequestsBy(pulls, pulls, c.server.Error), Issues: c.issues(r),
		CommitStatuses: githost.StatusRequests{
			Traits: r.traits, Set: commits.set, List: commits.list, Login: c.login, SeenAt: c.server.SeenAt,
			Failed: c.server.Error,
		},
		GitCredential: httpapi.GitLogin(gitUser, c.server.Token),
	}, nil
}

// login returns the login of the user that the token belongs to.
func (c *Client) login(ctx context.Context) (string, error) {
	return c.logins.Get("", func() (string, error) {
		var me user
		_, err := c.call(ctx, http.MethodGet, "/user", nil, &me)
		return c.server.Login(me.Login, err)
	})
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

// gitUser is the user name that is sent with a token. Gitea accepts any name.
const gitUser = "kalypso"

// issues returns the issues of a repo. Gitea lists the newest first.
func (c *Client) issues(r *repo) githost.Issues {
	return &httpapi.Issues{
		Traits: r.traits, Query: "state=all&type=issues", SizeName: "limit", Size: pageSize, Creator: "created_by",
		Login: c.login, Failed: r.server.Error,
		Call: func(ctx context.Context, op, method, path string, body, into any) (http.Header, error) {
			header, err := r.call(ctx, method, "/issues"+path, body, into)
			return header, r.server.Error(op, err)
		},
		AddLabels: r.AddLabels,
	}
}
