package gitremote

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// Client accesses repositories with its credentials. It is safe for concurrent use.
type Client struct {
	credentials []*auth
	settings    Settings

	mu         sync.Mutex
	transports map[*servertls.Config]*http.Transport
	loginHosts map[string]string // addresses with a login from the function → its source
}

// limits bound the size of servers' answers and the time they may take. Tests set smaller limits.
type limits struct {
	maxRead    int64 // bytes of one fetch; beyond it the error is [ErrTooLarge]
	maxRefList int64 // bytes of a server's list of references; beyond it the error is [ErrTooManyRefs]
	// answerTimeout is the time until an answer begins, or the SSH handshake is complete. Only the context bounds the
	// answer to a push.
	answerTimeout time.Duration
	wait          func(ctx context.Context, d time.Duration) error // until a request is sent again
}

// defaultLimits allow about 700,000 references.
var defaultLimits = limits{maxRead: 1 << 30, maxRefList: 64 << 20, answerTimeout: 2 * time.Minute, wait: clock.Sleep}

// Settings configure a [Client] beside its credentials.
type Settings struct {
	GitHubToken string    // for github.com over HTTPS, used if no credential covers the repository; empty: none
	Mirrors     Mirrors   // where repositories are accessed
	Login       LoginFunc // authenticates to repositories without a credential; nil: none
	// TLS returns the certificates for the server of a repository whose credential has none, or nil. It may be nil.
	TLS     func(repo string) *servertls.Config
	Secrets *redact.Secrets // shared with others, and redacted in texts
	limits  limits
}

// Option changes the settings of a [Client].
type Option func(*Settings)

// Login authenticates a request over HTTP(S): with user name and password, or with a bearer token.
type Login struct {
	Username, Password string
	Bearer             string
	Source             string // the source of the login, for errors, such as "azure_devops.entra of the provider"
}

// IsZero reports whether the login has neither password nor token.
func (l Login) IsZero() bool { return l.Password == "" && l.Bearer == "" }

// header returns the Authorization header, or an empty string if the login is zero.
func (l Login) header() string {
	switch {
	case l.Bearer != "":
		return "Bearer " + l.Bearer
	case l.Password != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.Username+":"+l.Password))
	}
	return ""
}

// LoginFunc returns the login for a repository over HTTP(S), or the zero value. The client calls it for every request.
// If the server refuses the login, the client calls it again with the refused login, and tries once more if it gets
// another login. Together with an error, the function may return a Login that has only its Source.
type LoginFunc func(ctx context.Context, repo string, refused Login) (Login, error)

// NewClient returns a client. It contacts no server. It reports all invalid credentials together, as
// [CredentialErrors].
func NewClient(credentials []Credential, options ...Option) (*Client, error) {
	c := &Client{
		settings:   Settings{limits: defaultLimits, Secrets: &redact.Secrets{}},
		transports: map[*servertls.Config]*http.Transport{}, loginHosts: map[string]string{},
	}
	for _, o := range options {
		o(&c.settings)
	}
	var wrong CredentialErrors
	first := map[string]int{}
	for i, credential := range credentials {
		report := func(field, reason string) {
			wrong = append(wrong, &CredentialError{Index: i, Field: field, Reason: reason})
		}
		s := check(credential, report)
		c.settings.Secrets.Add(credential.Password, credential.BearerToken, credential.PrivateKey,
			credential.PrivateKeyPassphrase, credential.ClientKey)
		if s == nil {
			continue
		}
		if j, twice := first[s.at.AddressKey()]; twice {
			report(FieldURL, fmt.Sprintf("duplicates the url of git_credentials[%d]", j))
			continue
		}
		first[s.at.AddressKey()] = i
		c.credentials = append(c.credentials, s)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	if token := c.settings.GitHubToken; token != "" {
		c.credentials = append(c.credentials, githubToken(token))
		c.settings.Secrets.Add(token)
	}
	return c, nil
}

// githubUser is the user name that GitHub accepts with any kind of token.
const githubUser = "x-access-token"

func githubToken(token string) *auth {
	at := giturl.URL{Scheme: giturl.SchemeHTTPS, Host: "github.com", Port: 443}
	return &auth{at: at, login: Login{Username: githubUser, Password: token}, fallback: true}
}

// findAuth returns the credential with the longest URL that covers the repository, or nil.
func (c *Client) findAuth(repo giturl.URL) *auth {
	found, _ := giturl.Longest(c.credentials, func(s *auth) giturl.URL { return s.at }, repo)
	return found
}

// newOutput returns an empty output of a server, whose lines contain no secrets.
func (c *Client) newOutput() *serverOutput { return &serverOutput{redact: c.settings.Secrets.Redact} }

// sanitize redacts secrets in a text of another program, and turns it into one printable line.
func (c *Client) sanitize(text string) string { return printable.Line(c.settings.Secrets.Redact(text)) }

// askLogin asks the login function for the login for a repository. It returns the zero value if there is none, or if
// the login would go over plain HTTP to another machine.
func (c *Client) askLogin(ctx context.Context, at giturl.URL, refused Login) (Login, error) {
	if c.settings.Login == nil || at.Ambiguous() || at.Scheme != giturl.SchemeHTTPS && !at.IsLoopback() {
		return Login{}, nil
	}
	login, err := c.settings.Login(ctx, at.String(), refused)
	if login.Source != "" {
		c.mu.Lock()
		c.loginHosts[at.Address()] = login.Source
		c.mu.Unlock()
	}
	if err != nil || login.IsZero() {
		return Login{}, err
	}
	c.settings.Secrets.Add(login.Password, login.Bearer)
	return login, nil
}

// loginSource returns the Source that the login function last named for the repository's server, or "".
func (c *Client) loginSource(at giturl.URL) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loginHosts[at.Address()]
}
