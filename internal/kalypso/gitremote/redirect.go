package gitremote

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
)

// maxRedirects bounds the redirects of one request.
const maxRedirects = 10

// checkRedirect allows redirects of GET requests only, as Git does, and none from https to http. net/http turns a
// redirected POST into a GET for some statuses, so the first request decides. A push must stay on the requested server,
// since nobody chose the repository behind a redirect.
func checkRedirect(next *http.Request, via []*http.Request) error {
	asked, to := requestedRepo(via[0].URL), requestedRepo(next.URL)
	switch before := via[len(via)-1]; {
	case via[0].Method != http.MethodGet:
		return fmt.Errorf("%w: the server redirects a later request; use the URL that it redirects to",
			ErrRedirected)
	case next.URL.Scheme != repourl.SchemeHTTP && next.URL.Scheme != repourl.SchemeHTTPS:
		return fmt.Errorf("%w: the server redirects from %s to another protocol", ErrRedirected, before.URL.Scheme)
	case before.URL.Scheme == repourl.SchemeHTTPS && next.URL.Scheme != repourl.SchemeHTTPS:
		return fmt.Errorf("%w: the server redirects from https to %s", ErrRedirected, next.URL.Scheme)
	case via[0].URL.Query().Get("service") == receivePack && !asked.SameServer(to):
		return fmt.Errorf("%w: the server redirects a push to %s, which is another server; "+
			"if the repository moved there, use its new URL", ErrRedirected, displayTarget(to))
	case len(via) >= maxRedirects:
		return fmt.Errorf("%w: the server redirects more than %d times", ErrRedirected, maxRedirects)
	}
	return nil
}

// authTransport adds the credential of the requested repository, and never the one of a redirect's target. A team
// controls the redirects of its server, and could otherwise choose where the platform's credentials go.
type authTransport struct {
	base   http.RoundTripper
	client *Client
	asked  repourl.URL
	with   *auth // credential of asked; nil: none
}

// RoundTrip implements [http.RoundTripper].
func (a *authTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	header, err := a.authorization(req.Context(), req.URL)
	if err != nil {
		return nil, err
	}
	if header != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", header)
	}
	return a.base.RoundTrip(req)
}

// authorization returns the header for a request: the credential of the requested repository, if the request goes to
// it or, for example after a rename, to one on the same server that the same credential covers. It is empty
// otherwise.
func (a *authTransport) authorization(ctx context.Context, u *url.URL) (string, error) {
	to := requestedRepo(u)
	// RawPath is set if the path has an unusual escape, such as %2F.
	if u.RawPath != "" || to.Ambiguous() || !a.asked.SameServer(to) || a.client.findAuth(to) != a.with {
		return "", nil
	}
	if a.with != nil && !a.with.fallback {
		if header := a.with.authorization(); header != "" {
			return header, nil
		}
	}
	// The password function takes precedence over the token of the environment.
	header, err := a.client.askPassword(ctx, a.asked)
	if err == nil && header != "" && to.Key() != a.asked.Key() {
		var there string
		if there, err = a.client.askPassword(ctx, to); there != header {
			header = ""
		}
	}
	if header == "" && err == nil && a.with != nil {
		header = a.with.authorization()
	}
	return header, err
}

// displayTarget names the target of a redirect, which may not be a repository.
func displayTarget(to repourl.URL) string {
	if to == (repourl.URL{}) {
		return "an address that is not a repository"
	}
	return to.String()
}

// requestedRepo returns the repository of a request, or the zero URL if its URL is not in a repository.
func requestedRepo(u *url.URL) repourl.URL {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	for _, service := range []string{"/info/refs", "/" + uploadPack, "/" + receivePack} {
		bare.Path = strings.TrimSuffix(bare.Path, service)
	}
	loc, err := repourl.Parse(bare.String())
	if err != nil {
		return repourl.URL{}
	}
	return loc
}
