package gitremote

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// maxRedirects bounds the redirects of one request.
const maxRedirects = 10

// checkRedirect allows redirects of GET requests only, as Git does, and none from https to http. net/http turns a
// redirected POST into a GET for some statuses, so the first request decides. A push must stay on the requested server,
// since the repository behind a redirect was not configured.
func checkRedirect(next *http.Request, via []*http.Request) error {
	asked, to := requestedRepo(via[0].URL), requestedRepo(next.URL)
	switch before := via[len(via)-1]; {
	case via[0].Method != http.MethodGet:
		return fmt.Errorf("%w: the server redirects only some requests; use the URL that it redirects to",
			ErrRedirected)
	case next.URL.Scheme != giturl.SchemeHTTP && next.URL.Scheme != giturl.SchemeHTTPS:
		return fmt.Errorf("%w: the server redirects from %s to another protocol", ErrRedirected, before.URL.Scheme)
	case before.URL.Scheme == giturl.SchemeHTTPS && next.URL.Scheme != giturl.SchemeHTTPS:
		return fmt.Errorf("%w: the server redirects from https to %s", ErrRedirected, next.URL.Scheme)
	case via[0].URL.Query().Get("service") == receivePack && !asked.SameServer(to):
		return fmt.Errorf("%w: the server redirects a push to %s, which is another server; "+
			"if the repository moved there, use its new URL", ErrRedirected, displayTarget(to))
	case len(via) >= maxRedirects:
		return fmt.Errorf("%w: the server redirects more than %d times", ErrRedirected, maxRedirects)
	}
	return nil
}

// authTransport adds the credential of the requested repository, and never the credential of a redirect's target. A
// team controls the redirects of its server, and could otherwise choose where the platform's credentials go.
type authTransport struct {
	client *Client
	asked  giturl.URL
	with   *auth // credential of asked; nil: none
}

// RoundTrip implements [http.RoundTripper]. If the server refuses a login and the login function returns another one,
// it sends the request once more, unless the body can't be read again.
func (a *authTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	login, err := a.loginFor(req.Context(), req.URL, Login{})
	if err != nil {
		return nil, err
	}
	res, err := a.send(req, login)
	if err != nil || login.IsZero() || !refused(res) || req.Body != nil && req.GetBody == nil {
		return res, err
	}
	other, err := a.loginFor(req.Context(), req.URL, login)
	if err == nil && (other.IsZero() || other == login) {
		return res, nil
	}
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	if req.GetBody != nil {
		req = req.Clone(req.Context())
		req.Body, err = req.GetBody()
		if err != nil {
			return nil, err
		}
	}
	return a.send(req, other)
}

func (a *authTransport) send(req *http.Request, login Login) (*http.Response, error) {
	if !login.IsZero() {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", login.header())
	}
	return a.connections(req.URL).RoundTrip(req)
}

// connections returns the connection pool for a request. The certificate authority that is configured for the requested
// server does not apply to other servers: they are verified with the system's authorities and those that are configured
// for them. A client certificate is presented only for a request that [authTransport.covers] covers, so never after a
// redirect to another server.
func (a *authTransport) connections(u *url.URL) http.RoundTripper {
	to, with := requestedRepo(u), a.with
	if !a.asked.SameServer(to) {
		with = a.client.findAuth(to)
	}
	certificates := a.client.certificates(to, with)
	if !a.covers(u) {
		certificates = certificates.Anonymous()
	}
	return a.client.roundTripper(certificates)
}

// certificates returns the certificates of a credential. If it has none, it returns the certificates for the
// repository's server.
func (c *Client) certificates(at giturl.URL, with *auth) *servertls.Config {
	switch {
	case with != nil && with.tls != nil:
		return with.tls
	case c.settings.TLS == nil || at.Scheme != giturl.SchemeHTTPS:
		return nil
	}
	return c.settings.TLS(at.String())
}

// covers reports whether a request goes to the requested repository, or to one on its server that the same credential
// covers, for example after a rename.
func (a *authTransport) covers(u *url.URL) bool {
	to := requestedRepo(u)
	// RawPath is set if the path has an unusual escape, such as %2F.
	return u.RawPath == "" && !to.Ambiguous() && a.asked.SameServer(to) && a.client.findAuth(to) == a.with
}

// refused reports whether a server does not accept the credential of a request: by its status, or with a sign-in page.
func refused(res *http.Response) bool {
	return res.StatusCode == http.StatusUnauthorized || isSignIn(res)
}

// loginFor returns the login for a request. It is zero if the request does not go to the requested repository.
func (a *authTransport) loginFor(ctx context.Context, u *url.URL, refused Login) (Login, error) {
	to := requestedRepo(u)
	if !a.covers(u) {
		return Login{}, nil
	}
	if a.with != nil && !a.with.fallback {
		if own := a.with.login; !own.IsZero() {
			return own, nil
		}
	}
	// The function takes precedence over the token from an environment variable.
	login, err := a.client.askLogin(ctx, a.asked, refused)
	if err == nil && !login.IsZero() && to.Key() != a.asked.Key() {
		var there Login
		there, err = a.client.askLogin(ctx, to, refused)
		if there != login {
			login = Login{}
		}
	}
	if login.IsZero() && err == nil && a.with != nil {
		login = a.with.login
	}
	return login, err
}

// displayTarget names the target of a redirect, which may not be a repository.
func displayTarget(to giturl.URL) string {
	if to == (giturl.URL{}) {
		return "an address that is not a repository"
	}
	return to.String()
}

// requestedRepo returns the repository of a request, or the zero URL if its URL is not in a repository.
func requestedRepo(u *url.URL) giturl.URL {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	for _, service := range []string{"/info/refs", "/" + uploadPack, "/" + receivePack} {
		bare.Path = strings.TrimSuffix(bare.Path, service)
	}
	loc, err := giturl.Parse(bare.String())
	if err != nil {
		return giturl.URL{}
	}
	return loc
}
