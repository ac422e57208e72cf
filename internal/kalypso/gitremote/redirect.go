package gitremote

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// maxRedirects bounds how often one request follows a redirect.
const maxRedirects = 10

// checkRedirect follows the redirects of a GET alone, as Git does, and none
// from https to http. A push stays on the server that was asked for: the
// repository behind a redirect is one that nobody named.
func checkRedirect(next *http.Request, via []*http.Request) error {
	asked, to := requested(via[0].URL), requested(next.URL)
	switch before := via[len(via)-1]; {
	case next.Method != http.MethodGet:
		return fmt.Errorf("%w: the server redirects a request that is not the first; use the URL that it redirects to",
			ErrRedirected)
	case next.URL.Scheme != schemeHTTP && next.URL.Scheme != schemeHTTPS:
		return fmt.Errorf("%w: the server redirects from %s to another protocol", ErrRedirected, before.URL.Scheme)
	case before.URL.Scheme == schemeHTTPS && next.URL.Scheme != schemeHTTPS:
		return fmt.Errorf("%w: the server redirects from https to %s", ErrRedirected, next.URL.Scheme)
	case via[0].URL.Query().Get("service") == receivePack && !asked.sameServer(to):
		return fmt.Errorf("%w: the server redirects a push to %s, which is another server; "+
			"if the repository moved there, set its URL to that", ErrRedirected, to.shown())
	case len(via) >= maxRedirects:
		return fmt.Errorf("%w: the server redirects more than %d times", ErrRedirected, maxRedirects)
	}
	return nil
}

// authenticating adds the credential of the repository that was asked for, and
// never one of the repository that a redirect leads to. A team chooses where
// its server redirects to, and would otherwise choose which of the platform's
// credentials goes where.
type authenticating struct {
	base   http.RoundTripper
	client *Client
	asked  Location
	with   *served // of asked; nil: none
}

// RoundTrip implements [http.RoundTripper].
func (a *authenticating) RoundTrip(req *http.Request) (*http.Response, error) {
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

// authorization is the header for a request to a repository: that of the
// repository that was asked for, if it is the same one, or one on the same
// server that the same credential serves, as after a renaming. Empty: none.
func (a *authenticating) authorization(ctx context.Context, u *url.URL) (string, error) {
	to := requested(u)
	// RawPath is set where the path is escaped in a way of its own, as with %2F.
	if u.RawPath != "" || to.ambiguous() || !a.asked.sameServer(to) || a.client.find(to) != a.with {
		return "", nil
	}
	if a.with != nil && !a.with.fallback {
		if header := a.with.authorization(); header != "" {
			return header, nil
		}
	}
	// What the password function gives goes before the environment's token.
	header, err := a.client.ask(ctx, a.asked)
	if err == nil && header != "" && to.Key() != a.asked.Key() {
		var there string
		if there, err = a.client.ask(ctx, to); there != header {
			header = ""
		}
	}
	if header == "" && err == nil && a.with != nil {
		header = a.with.authorization()
	}
	return header, err
}

// requested is the repository that a request is for; the zero Location where
// its URL is none of a repository.
func requested(u *url.URL) Location {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	for _, service := range []string{"/info/refs", "/" + uploadPack, "/" + receivePack} {
		bare.Path = strings.TrimSuffix(bare.Path, service)
	}
	loc, err := ParseURL(bare.String())
	if err != nil {
		return Location{}
	}
	return loc
}
