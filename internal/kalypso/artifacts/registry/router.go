package registry

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"sync"

	giturl "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/url"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/servertls"
)

// router sends the requests of one registry. The only other server is the token server that the registry names. Docker
// sends it the credential too, but the router does so only over https, or to this machine.
type router struct {
	client       *Client
	registry     giturl.URL
	certificates *servertls.Config // for the registry
	send         http.RoundTripper // to the registry

	mu     sync.Mutex
	tokens map[string]http.RoundTripper // to token servers, by address
}

var (
	errOtherServer = errors.New(
		"the registry refers to another server, which gets neither the content nor the credential")
	errRealm = errors.New(
		"the registry names a token server without https, which gets no credential")
)

// RoundTrip implements [http.RoundTripper].
func (r *router) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, token, ok := strings.Cut(req.Header.Get("Authorization"), "Bearer "); ok {
		r.client.access.Secrets.Add(token)
	}
	to, err := giturl.Parse(req.URL.Scheme + "://" + req.URL.Host)
	switch {
	case err != nil:
		return nil, errOtherServer
	case to.SameServer(r.registry):
		return r.send.RoundTrip(req)
	case req.Method != http.MethodGet && req.Method != http.MethodPost: // no request for a token
		return nil, errOtherServer
	case to.Scheme != giturl.SchemeHTTPS && !to.IsLoopback():
		return nil, errRealm
	}
	return r.tokenServer(to).RoundTrip(req)
}

// tokenServer returns the transport to a token server. It trusts the registry's authorities.
func (r *router) tokenServer(at giturl.URL) http.RoundTripper {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tokens == nil {
		r.tokens = map[string]http.RoundTripper{}
	}
	if r.tokens[at.Address()] == nil {
		api := r.client.api(at, r.certificates.Anonymous())
		r.tokens[at.Address()] = api.Client(httpapi.TokenAuthorization("")).Transport
	}
	return r.tokens[at.Address()]
}

// speaksPlainHTTP reports whether an error means that a server answers without TLS.
func speaksPlainHTTP(err error) bool {
	var noTLS tls.RecordHeaderError
	return errors.As(err, &noTLS) && string(noTLS.RecordHeader[:]) == "HTTP/"
}
