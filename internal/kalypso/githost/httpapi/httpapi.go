// Package httpapi sends requests to the HTTP API of any Git host. It adds the credential, retries temporary failures
// until the deadline, follows redirects only within the API, bounds answers, and redacts secrets in errors.
package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// Config configures an [API].
type Config struct {
	Access
	// Host and Block are the name of the host for people, such as "GitHub", and of the provider's block for it. Both are
	// for errors.
	Host, Block string
	// Roots are the addresses of the API. A path that ends with a slash covers all paths below it.
	Roots []*url.URL
	// Message returns the host's error message in the body of an answer, or "".
	Message func(body []byte) string
	// Limited reports whether an answer signals a rate limit, as the status 429 always does. reset is the end of the
	// limit, or zero if the answer does not name it. Limited is nil if only the status counts.
	Limited func(*http.Response, []byte) (reset time.Time, limited bool)
	// Kinds are the kinds of errors that the host's messages tell. The first one counts; without any, the status decides.
	Kinds []MessageKind
	// Advise adds advice on permissions to an error. The answer is nil if the host did not refuse the request. If Advise
	// is nil, there is no advice.
	Advise func(e *githost.Error, answer *http.Response)
	// IsSignIn reports whether an answer is a sign-in page, which means that the credential was not accepted. It is nil if
	// the host has no such page.
	IsSignIn func(*http.Response) bool
	// Unusable returns why the body of an answer can't be used, or nil. The default is [Null].
	Unusable func(req *http.Request, body []byte) error
	// RawRefusals means that an error answer of the host is an answer. Otherwise it is an error, since libraries drop the
	// text of some error answers.
	RawRefusals bool
	// Redirected answers a request that the server redirects outside the API. It must send neither the headers nor the
	// body of the request. ok is false for a request that fails. If Redirected is nil, all such requests fail.
	Redirected func(req *http.Request, to *url.URL) (resp *http.Response, ok bool, err error)
}

// Access configures the access to the API of a host.
type Access struct {
	// Token authenticates requests. Without a credential, the host only serves public repos.
	Token string
	// Credential names where users configure the credential, for errors.
	Credential string
	BaseURL    string            // of the server, with or without a folder
	UserAgent  string            // "": the library's
	Transport  http.RoundTripper // nil: the network, with the proxies of the environment
	// Certificates are for the servers of the API, which are the only ones that get requests. A Transport ignores them.
	Certificates *servertls.Config
	Clock        Clock // nil: the machine's
	// HeaderTimeout bounds the time until an answer begins, on the network; 0: a minute.
	HeaderTimeout time.Duration
	// MaxAnswer bounds the size of an answer, in bytes; 0: 64 MiB. A larger answer is an [ErrTooLarge].
	MaxAnswer int64
	// Secrets are redacted in all errors. The client adds its own. Nil: only its own.
	Secrets *redact.Secrets
	// OnRetry, if set, is called before each wait for another attempt.
	OnRetry func(ctx context.Context, reason error, wait time.Duration)
}

// Clock returns the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx is done. If ctx is done first, it returns its error.
	Sleep(ctx context.Context, d time.Duration) error
}

// MachineClock is the clock of the machine.
type MachineClock struct{}

// Now returns the machine's time.
func (MachineClock) Now() time.Time {
	return time.Now() //nolint:forbidigo // the only use of the machine's clock
}

// Sleep implements [Clock].
func (MachineClock) Sleep(ctx context.Context, d time.Duration) error { return clock.Sleep(ctx, d) }

// Authorization authenticates requests.
type Authorization struct {
	// Credential returns the credential for a request, or "" to send none. If it returns a *[githost.Error], the request
	// fails with it.
	Credential func(context.Context) (string, error)
	// Renew drops a credential that the host did not accept. The request is then sent once more. It is nil if credentials
	// can't be renewed.
	Renew func(rejected string)
	// Set adds a credential to the headers of a request, as [Bearer] does.
	Set func(h http.Header, credential string)
}

// TokenAuthorization authenticates requests with a bearer token. An empty token means no authentication.
func TokenAuthorization(token string) Authorization {
	return Authorization{Credential: func(context.Context) (string, error) { return token, nil }, Set: Bearer}
}

// GitLogin returns a function for [githost.Repo.GitCredential]. The function returns the user name and the token, or
// nothing without a token.
func GitLogin(user, token string) func(context.Context) (username, password, bearer string, err error) {
	if token == "" {
		user = ""
	}
	return func(context.Context) (_, _, _ string, _ error) { return user, token, "", nil }
}

// Bearer sets the header of a bearer token.
func Bearer(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }

// API is the API of one host. It is safe for concurrent use.
type API struct {
	Config

	mu sync.Mutex
	// notBefore is the time from which the next request may be sent, by server.
	notBefore map[string]time.Time
	seenAt    time.Time
}

// New returns an API. It contacts no server.
func New(c Config) *API {
	if c.Transport == nil {
		c.Transport = network(cmp.Or(c.HeaderTimeout, headerTimeout), c.Certificates)
	}
	if c.Clock == nil {
		c.Clock = MachineClock{}
	}
	if c.Secrets == nil {
		c.Secrets = &redact.Secrets{}
	}
	if c.Unusable == nil {
		c.Unusable = Null
	}
	c.Secrets.Add(c.Token)
	return &API{Config: c, notBefore: map[string]time.Time{}}
}

// Client returns a client for requests with an authorization. Its errors wrap a *[githost.Error], except for answers
// that Go's HTTP client can't use. The bodies of answers are in memory completely.
func (a *API) Client(auth Authorization) *http.Client {
	return &http.Client{
		Transport:     &transport{a, auth},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// SeenAt returns the time of the last answer by the host's clock, or zero.
func (a *API) SeenAt() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seenAt
}

// ParseBase returns the address of a server, without a slash at its end. The example is shown in the error.
func ParseBase(base, example string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the base URL is not an absolute URL such as " + example)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}, nil
}

// headerTimeout is the default of [Config.HeaderTimeout].
const headerTimeout = time.Minute

// network returns a transport with Go's defaults and headerTimeout. By default, Go would wait forever for an answer to
// begin.
func network(headerTimeout time.Duration, certificates *servertls.Config) http.RoundTripper {
	t := webproxy.Transport()
	t.TLSClientConfig = certificates.ForClient()
	t.ResponseHeaderTimeout = headerTimeout
	return t
}
