package registry

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// router sends the requests of one registry. The only other servers are those that the registry names: the token
// server, and the storage to which it redirects the download of a blob. Docker sends a token server the credential too,
// but the router does so only over https. A storage never gets it. Only a registry on this machine may name servers on
// this machine that use plain http: another one could have requests sent to any service here.
type router struct {
	client       *Client
	registry     giturl.URL
	certificates *servertls.Config // for the registry
	send         http.RoundTripper // to the registry
	// others are the transports to servers that are no registry, by address and certificates.
	others httpapi.Lookups[http.RoundTripper]
}

func newRouter(c *Client, registry giturl.URL) *router {
	r := &router{client: c, registry: registry, certificates: c.certificates(registry)}
	api := c.api(registry, r.certificates)
	api.Redirected = r.download
	r.send = transport(api)
	return r
}

var (
	errOtherServer = errors.New(
		"the registry refers to another server; neither the content nor the credential was sent there")
	errRealm = errors.New(
		"the registry names a token server without https; no credential was sent there")
	errStorage = errors.New("the registry redirects to a storage server without https; no request was sent there")
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
	case !r.encrypted(to):
		return nil, errRealm
	}
	return r.other(to, r.certificates.Anonymous()).RoundTrip(req)
}

// encrypted reports whether requests to a server that the registry names are encrypted, or stay on this machine like
// those to the registry.
func (r *router) encrypted(to giturl.URL) bool {
	return to.Scheme == giturl.SchemeHTTPS || to.IsLoopback() && r.registry.IsLoopback()
}

// download downloads a blob from the storage to which the registry redirects. Its URL is a permission by itself.
func (r *router) download(req *http.Request, from *url.URL) (resp *http.Response, ok bool, err error) {
	if req.Method != http.MethodGet || !strings.Contains(req.URL.Path, "/blobs/") {
		return nil, false, nil
	}
	at, err := giturl.Parse(from.Scheme + "://" + from.Host)
	if err != nil || !r.encrypted(at) {
		return nil, true, &githost.Error{
			Op: "download from a storage", Kind: githost.ErrRejected, Host: r.registry.HostPort(), Cause: errStorage,
		}
	}
	plain, err := http.NewRequestWithContext(req.Context(), http.MethodGet, from.String(), nil)
	if err != nil {
		return nil, true, err
	}
	resp, err = r.other(at, r.client.certificates(at)).RoundTrip(plain)
	return resp, true, err
}

// other returns the transport to a server that the registry names.
func (r *router) other(at giturl.URL, certificates *servertls.Config) http.RoundTripper {
	made, _ := r.others.Get(fmt.Sprintf("%s %p", at.Address(), certificates), func() (http.RoundTripper, error) {
		return transport(r.client.api(at, certificates)), nil
	})
	return made
}

// speaksPlainHTTP reports whether an error means that a server answers without TLS.
func speaksPlainHTTP(err error) bool {
	var noTLS tls.RecordHeaderError
	return errors.As(err, &noTLS) && string(noTLS.RecordHeader[:]) == "HTTP/"
}
