package gitremote

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
)

// Client reaches repositories with the credentials it was made with. It is
// safe for concurrent use.
type Client struct {
	credentials []*served
	mirrors     Mirrors
	limits
	password PasswordFunc // nil: there is none
	secrets  *redact.Secrets

	mu         sync.Mutex
	transports map[*served]*http.Transport
	opened     map[string]bool // addresses that the password function gave one for
}

// limits bound what servers may say, and how long they may take.
type limits struct {
	maxRead    int64
	maxRefList int64
	patience   time.Duration // with the beginning of an answer
	wait       func(ctx context.Context, d time.Duration) error
}

// Option changes a [Client].
type Option func(*settings)

type settings struct {
	githubToken string
	mirrors     Mirrors
	limits
	password PasswordFunc
	secrets  *redact.Secrets
}

// PasswordFunc gives the user name and the password that open a repository over
// HTTP(S); both are empty where it has none. It is asked for every request.
type PasswordFunc func(ctx context.Context, repo string) (username, password string, err error)

// WithPasswordFunc has the function serve the repositories that no credential opens.
func WithPasswordFunc(f PasswordFunc) Option {
	return func(s *settings) { s.password = f }
}

// WithGitHubToken has the token serve github.com over HTTPS where no credential
// does. An empty token changes nothing.
func WithGitHubToken(token string) Option {
	return func(s *settings) { s.githubToken = token }
}

// WithMirrors has the client reach repositories by their mirrors.
func WithMirrors(mirrors Mirrors) Option {
	return func(s *settings) { s.mirrors = mirrors }
}

// WithSecrets has the client share the secrets that are taken out of texts.
func WithSecrets(secrets *redact.Secrets) Option {
	return func(s *settings) { s.secrets = secrets }
}

// WithMaxRead bounds the bytes that one fetch may bring; more is
// [ErrTooLarge]. The default is 1 GiB.
func WithMaxRead(bytes int64) Option {
	return func(s *settings) { s.maxRead = bytes }
}

// WithMaxRefList bounds the bytes that a server may list references with; more
// is [ErrTooManyRefs]. The default is 64 MiB, about 700,000 references.
func WithMaxRefList(bytes int64) Option {
	return func(s *settings) { s.maxRefList = bytes }
}

// WithHeaderTimeout bounds how long a server may take to begin an answer, or to
// let somebody in over SSH; more is [ErrUnreachable]. What it says to a pack
// takes as long as the context has. The default is two minutes.
func WithHeaderTimeout(d time.Duration) Option {
	return func(s *settings) { s.patience = d }
}

// WithSleep has the function wait before a request is sent again. The
// default waits for d, or until ctx is done.
func WithSleep(wait func(ctx context.Context, d time.Duration) error) Option {
	return func(s *settings) { s.wait = wait }
}

// NewClient makes a client. What is wrong with the credentials comes all at
// once, as [CredentialErrors]; nothing is contacted.
func NewClient(credentials []Credential, options ...Option) (*Client, error) {
	set := settings{
		limits:  limits{maxRead: 1 << 30, maxRefList: 64 << 20, patience: 2 * time.Minute, wait: clock.Sleep},
		secrets: &redact.Secrets{},
	}
	for _, o := range options {
		o(&set)
	}
	c := &Client{
		mirrors: set.mirrors, limits: set.limits, password: set.password, secrets: set.secrets,
		transports: map[*served]*http.Transport{}, opened: map[string]bool{},
	}
	var wrong CredentialErrors
	first := map[string]int{}
	for i, credential := range credentials {
		report := func(f Field, reason string) {
			wrong = append(wrong, &CredentialError{Index: i, Field: f, Reason: reason})
		}
		s := check(credential, report)
		set.secrets.Add(credential.Password, credential.BearerToken, credential.PrivateKey, credential.PrivateKeyPassphrase)
		if credential.Password != "" {
			set.secrets.Add(basic(credential.Username, credential.Password))
		}
		if s == nil {
			continue
		}
		if j, twice := first[s.at.Key()]; twice {
			report(FieldURL, "is the same as that of "+fmt.Sprintf("git_credentials[%d]", j))
			continue
		}
		first[s.at.Key()] = i
		c.credentials = append(c.credentials, s)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	if token := set.githubToken; token != "" {
		c.credentials = append(c.credentials, githubToken(token))
		set.secrets.Add(token, basic(githubUser, token))
	}
	return c, nil
}

// githubUser is the name that GitHub takes with a token of any kind.
const githubUser = "x-access-token"

func githubToken(token string) *served {
	at := Location{Scheme: schemeHTTPS, Host: "github.com", Port: defaultPorts[schemeHTTPS]}
	return &served{at: at, username: githubUser, password: token, fallback: true}
}

// find is the credential that serves a repository: the one with the longest
// path, of equally long ones the first. Nil where there is none.
func (c *Client) find(repo Location) *served {
	var best *served
	for _, s := range c.credentials {
		if s.at.serves(repo) && (best == nil || len(segments(s.at.Path)) > len(segments(best.at.Path))) {
			best = s
		}
	}
	return best
}

// clean is one line of a text that came from elsewhere: without secrets, and
// printable.
func (c *Client) clean(text string) string { return printable.Line(c.secrets.Redact(text)) }

// ask gives the header that opens a repository that no credential does; empty:
// nothing does. No password goes over plain http, but to this machine.
func (c *Client) ask(ctx context.Context, at Location) (header string, err error) {
	if c.password == nil || at.ambiguous() || at.Scheme != schemeHTTPS && !at.loopback() {
		return "", nil
	}
	username, password, err := c.password(ctx, at.String())
	if err != nil || password == "" {
		return "", err
	}
	c.secrets.Add(password, basic(username, password))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened[at.address()] = true
	return "Basic " + basic(username, password), nil
}

// asked reports whether ask gave a password for the repository's server.
func (c *Client) asked(at Location) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened[at.address()]
}

func basic(username, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(username + ":" + password))
}
