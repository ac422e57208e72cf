package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/localfile"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// Client accesses registries. It is safe for concurrent use.
type Client struct {
	logins  []*Login
	access  httpapi.Access
	schemes httpapi.Lookups[string]          // of the registries on this machine, by host
	docker  httpapi.Lookups[auth.Credential] // by host: a helper is a program
	// sessions are the clients of repositories that share tokens and waits: by scheme, host and login.
	sessions httpapi.Lookups[*auth.Client]
}

// New returns a client. It contacts no server. The logins serve the repositories that their URLs cover, and Docker's
// config file and its helpers serve all others. Of access, it uses what all servers share.
func New(logins []*Login, access httpapi.Access) *Client {
	if access.Secrets == nil {
		access.Secrets = &redact.Secrets{}
	}
	if access.Clock == nil {
		access.Clock = httpapi.MachineClock{}
	}
	for _, l := range logins {
		access.Secrets.Add(l.use.Password)
	}
	access.Credential = "oci_credentials of the provider, or docker login"
	return &Client{logins: logins, access: access}
}

// Open returns a repository. It contacts a registry on this machine, to learn whether that speaks TLS. An error is a
// *[githost.Error].
func (c *Client) Open(ctx context.Context, r Repository) (*remote.Repository, error) {
	scheme, err := c.scheme(ctx, r)
	if err != nil {
		return nil, c.Error(r, "connect", err)
	}
	return &remote.Repository{
		Client: c.authenticated(r, scheme), Reference: r.ref, PlainHTTP: scheme == giturl.SchemeHTTP,
		MaxMetadataBytes: maxManifest,
		// The list of what refers to an artifact, for registries without such a list of their own, would be deleted before
		// each change, which needs another permission.
		SkipReferrersGC: true,
	}, nil
}

// scheme returns https, or http if the registry is on this machine and speaks no TLS.
func (c *Client) scheme(ctx context.Context, r Repository) (string, error) {
	at := r.address(giturl.SchemeHTTPS)
	if !at.IsLoopback() {
		return giturl.SchemeHTTPS, nil
	}
	return c.schemes.Get(at.Address(), func() (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.ref.Host()+"/v2/", nil)
		if err != nil {
			return "", err
		}
		resp, err := transport(c.api(at, c.certificates(at))).RoundTrip(req)
		switch {
		case speaksPlainHTTP(err):
			return giturl.SchemeHTTP, nil
		case err != nil:
			return "", err
		}
		return giturl.SchemeHTTPS, resp.Body.Close()
	})
}

// certificates returns the certificates for an address.
func (c *Client) certificates(at giturl.URL) *servertls.Config {
	if login := find(c.logins, at); login != nil {
		return login.tls
	}
	return nil
}

// api returns the API of a server. Its path covers all.
func (c *Client) api(at giturl.URL, certificates *servertls.Config) httpapi.Config {
	access := c.access
	access.Certificates = certificates
	return httpapi.Config{
		Access: access, Host: at.HostPort(), Block: "oci_credentials",
		Roots:   []*url.URL{{Scheme: at.Scheme, Host: at.HostPort(), Path: "/"}},
		Message: message, RawRefusals: true,
	}
}

// transport sends requests to a server, without a credential of its own.
func transport(api httpapi.Config) http.RoundTripper {
	return httpapi.New(api).Client(httpapi.TokenAuthorization("")).Transport
}

// authenticated returns the client for the requests of a repository. Repositories of one registry share it, unless they
// have different logins.
func (c *Client) authenticated(r Repository, scheme string) *auth.Client {
	at := r.address(scheme)
	login := find(c.logins, at)
	made, _ := c.sessions.Get(fmt.Sprintf("%s %s %p", scheme, at.Address(), login), func() (*auth.Client, error) {
		return &auth.Client{
			Client: &http.Client{
				Transport:     newRouter(c, at),
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			},
			Cache: auth.NewCache(), ClientID: c.access.UserAgent, Credential: c.credential(login),
		}, nil
	})
	return made
}

// credential returns the function that finds the credential: the login's, else Docker's for the host. The library calls
// it once a registry asks for one.
func (c *Client) credential(login *Login) auth.CredentialFunc {
	return func(ctx context.Context, host string) (auth.Credential, error) {
		if login != nil && login.use != auth.EmptyCredential {
			return login.use, nil
		}
		return c.docker.Get(host, func() (auth.Credential, error) { return c.fromDocker(ctx, host) })
	}
}

// fromDocker returns the credential for a host in Docker's config file.
func (c *Client) fromDocker(ctx context.Context, host string) (auth.Credential, error) {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return auth.EmptyCredential, fmt.Errorf("%w: %w", errDocker, err)
	}
	// The library ignores what follows the JSON.
	if text, err := localfile.Read(store.ConfigPath(), localfile.MaxSmall); err == nil && !json.Valid(text) {
		return auth.EmptyCredential, fmt.Errorf("%w: %s is not JSON to its end", errDocker, store.ConfigPath())
	}
	found, err := credentials.Credential(store)(ctx, host)
	switch {
	case err != nil:
		return auth.EmptyCredential, fmt.Errorf("%w: %w", errDocker, err)
	case found == auth.EmptyCredential: // an anonymous client can't push
		return auth.EmptyCredential, ErrNoCredential
	}
	c.access.Secrets.Add(found.Password, found.RefreshToken, found.AccessToken)
	return found, nil
}
