// Package gitlab implements [githost.Host] for GitLab: gitlab.com or a server of one's own.
package gitlab

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// Client is a [githost.Host]. It is safe for concurrent use.
type Client struct {
	server *httpapi.API
	api    *gitlab.Client
	web    *url.URL

	projects, users httpapi.Lookups[int64]
	logins          httpapi.Lookups[string] // of the user that the token belongs to
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

// New returns a client. It contacts no server. The Token is a personal, project, group or OAuth access token. The
// BaseURL is the address of a server of one's own, or "" for gitlab.com.
func New(c httpapi.Access) (*Client, error) {
	web, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	root := *web
	root.Path += apiPath + "/"
	server := httpapi.New(httpapi.Config{
		Access: c, Host: hostName, Block: hostBlock, Roots: []*url.URL{&root}, Message: message, Kinds: kinds,
		Advise: advise, Limited: limited, IsSignIn: isSignIn,
	})
	api, err := gitlab.NewAuthSourceClient(gitlab.Unauthenticated{}, gitlab.WithBaseURL(root.String()),
		gitlab.WithoutRetries(), gitlab.WithCustomLimiter(unlimited{}),
		gitlab.WithHTTPClient(server.Client(httpapi.TokenAuthorization(c.Token))))
	if err != nil {
		return nil, err
	}
	return &Client{server: server, api: api, web: web}, nil
}

// unlimited replaces the library's limiter, since package httpapi already waits as long as GitLab asks.
type unlimited struct{}

func (unlimited) Wait(context.Context) error { return nil }

// parseBase returns the address of a server's web pages, without a slash at its end.
func parseBase(base string) (*url.URL, error) {
	u, err := httpapi.ParseBase(cmp.Or(base, publicServer), "https://gitlab.acme.io/")
	if err != nil {
		return nil, err
	}
	u.Host, u.Path = strings.ToLower(u.Host), strings.TrimRight(strings.TrimSuffix(u.Path, apiPath), "/")
	return u, nil
}

// segment matches a valid name of a group or a project. A path segment "-" separates a project from its pages.
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
		return githost.Repo{}, err
	}
	r := &repo{client: c, server: c.server, path: strings.Join(parts, "/")}
	r.traits = githost.Traits{
		Host: hostName, Block: hostBlock, Noun: "merge request", Repository: r.path,
		// GitLab accepts 255 characters for a title with a draft's mark, and 1,048,576 for a description. The difference to
		// MaxBody is room for the backslashes that [escape] adds.
		MaxTitle: 255 - len(titles.Prefix), MaxBody: 1_000_000, ReadyMessage: readyMessage,
		// If the project was moved, GitLab redirects from the old path, so no request is needed to find the current path.
		Pages: c.web.String() + "/" + r.path + "/-/", KeepsPending: true, EscapeBody: escape,
		CheckReviewer: checkReviewer, CheckLabel: checkLabel, ForgetsAutoMerge: true,
		// The project's settings decide whether GitLab merges, rebases or fast-forwards. A request can only ask for a squash.
		Methods:      []githost.MergeMethod{githost.Merge, githost.Squash},
		OtherMethods: " on request, since its projects choose the merge method. Set merge, which uses that method, or squash",
	}
	return githost.Repo{
		Traits: r.traits, PullRequests: r.traits.PullRequestsBy(&mergeRequests{r}, nil, c.server.Error), Issues: &issues{r},
		CommitStatuses: (&statuses{r}).requests(), GitCredential: httpapi.GitLogin(gitUser, c.server.Token),
	}, nil
}

// login returns the login of the user that the token belongs to. The user of a project's or group's token is a bot.
func (c *Client) login(ctx context.Context) (string, error) {
	return c.logins.Get("", func() (string, error) {
		user, _, err := c.api.Users.CurrentUser(gitlab.WithContext(ctx))
		if err != nil {
			return "", err
		}
		return c.server.Login(user.Username, nil)
	})
}

// repo is a project of a client.
type repo struct {
	client *Client
	server *httpapi.API
	traits githost.Traits
	path   string // such as group/subgroup/project
}

// mergeRequests, statuses and issues are the parts of a [githost.Repo].
type (
	mergeRequests struct{ *repo }
	statuses      struct{ *repo }
	issues        struct{ *repo }
)

// id returns the number of the project, which does not change if the project is moved. The client looks it up once.
func (r *repo) id(ctx context.Context) (int64, error) {
	return r.client.projects.Get(r.path, func() (int64, error) {
		p, _, err := r.client.api.Projects.GetProject(r.path, nil, gitlab.WithContext(ctx))
		if err != nil {
			return 0, err
		}
		return p.ID, nil
	})
}

// eachPage calls use with up to limit entries of a list, until use returns true or the list ends. request requests the
// page that options describe. more reports whether the list has more entries.
func eachPage[T any](
	size, limit int, options *gitlab.ListOptions, request func() ([]T, *gitlab.Response, error), use func(T) (done bool),
) (more bool, err error) {
	return httpapi.EachPage(size, limit, func(p httpapi.Page) (int, bool, error) {
		options.PerPage, options.Page = int64(p.Size), int64(p.Number)
		entries, resp, err := request()
		if err != nil || slices.ContainsFunc(entries, use) {
			return 0, false, err
		}
		return len(entries), resp.NextPage != 0, nil
	})
}

// gitUser is the user name that GitLab accepts with each kind of access token.
const gitUser = "oauth2"
