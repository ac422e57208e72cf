// Package httpapi sends requests to the HTTP API of any Git host. It adds the credential, retries temporary failures
// until the deadline, follows redirects only within the API, bounds answers, and redacts secrets in errors.
package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/webproxy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
)

// Config configures an [API].
type Config struct {
	Host string // name of the host, for errors, such as "GitHub"
	// Roots are the addresses of the API. A path that ends with a slash covers all paths below it.
	Roots []*url.URL
	// Message returns the host's error message in the body of an answer, or "".
	Message func(body []byte) string
	// Limited reports whether an answer signals a rate limit, and returns its end; zero: the answer does not name it.
	Limited func(*http.Response, []byte) (reset time.Time, limited bool)
	// IsSignIn reports whether an answer is a page to sign in, which means that the credential is not accepted. Nil:
	// the host sends no such page.
	IsSignIn func(*http.Response) bool
	// NullIsEmpty says that the host answers null in place of an empty list.
	NullIsEmpty bool
	// MayContainErrors reports whether a successful answer of an address may contain errors, which are then redacted.
	// Nil: no.
	MayContainErrors func(*url.URL) bool

	Transport http.RoundTripper // nil: the network, with the proxies of the environment
	Clock     Clock             // nil: the machine's
	// HeaderTimeout bounds the time until an answer begins, on the network; 0: a minute.
	HeaderTimeout time.Duration
	// Secrets are redacted in all errors.
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
	// Credential returns the credential of a request; "": none. It can return a *[githost.Error], which ends the
	// request.
	Credential func(context.Context) (string, error)
	// Renew drops a credential that the host did not accept; the request is then sent once more. Nil: it can't be
	// renewed.
	Renew func(rejected string)
	// Set adds a credential to the headers of a request, as [Bearer] does.
	Set func(h http.Header, credential string)
}

// Bearer sets the header of a bearer token.
func Bearer(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }

// API is the API of one host. It is safe for concurrent use.
type API struct {
	Config

	mu sync.Mutex
	// notBefore is the time from which the next request may be sent, by server.
	notBefore map[string]time.Time
}

// New returns an API. It contacts no server.
func New(c Config) *API {
	if c.Transport == nil {
		c.Transport = network(cmp.Or(c.HeaderTimeout, headerTimeout))
	}
	if c.Clock == nil {
		c.Clock = MachineClock{}
	}
	return &API{Config: c, notBefore: map[string]time.Time{}}
}

// Client returns a client for requests with an authorization. Its errors wrap a *[Failure] or a *[githost.Error],
// except for answers that Go's HTTP client can't use. Bodies are complete in memory.
func (a *API) Client(auth Authorization) *http.Client {
	return &http.Client{
		Transport:     &transport{a, auth},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
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
	webproxy.Configure(t)
	t.ResponseHeaderTimeout = headerTimeout
	return t
}

// Failure is the outcome of a request that is not retried any more, if there is no answer to show.
type Failure struct {
	Host    string
	Kind    error  // a sentinel of package hosting
	Status  int    // HTTP status; 0: no answer
	Message string // the host's error message
	Cause   error  // nil: none
}

func (f *Failure) Error() string {
	return f.as("ask " + f.Host).Error()
}

// Unwrap returns the kind and the cause, for [errors.Is].
func (f *Failure) Unwrap() []error { return f.as("").Unwrap() }

func (f *Failure) as(op string) *githost.Error {
	return &githost.Error{Op: op, Kind: f.Kind, Status: f.Status, Message: f.Message, Cause: f.Cause}
}
