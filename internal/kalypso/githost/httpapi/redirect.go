package httpapi

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// maxRedirects bounds the redirects within the API. A renamed repo causes one redirect.
const maxRedirects = 3

// Redirects that are not followed. Their body is never shown.
var (
	errOutsideAPI = errors.New("the server redirects to an address outside its API; " +
		"neither the request nor the credential was sent there")
	errTooManyRedirects = errors.New("the server redirects more than " + strconv.Itoa(maxRedirects) + " times")
)

func redirected(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// contains reports whether a URL belongs to the API: it has the scheme, host, port and path of a root, and is
// unambiguous.
func (a *API) contains(u *url.URL) bool {
	if u.RawPath != "" || giturl.AmbiguousPath(u.Path) || u.User != nil {
		return false
	}
	return slices.ContainsFunc(a.Roots, func(root *url.URL) bool {
		inside := u.Path == root.Path || strings.HasSuffix(root.Path, "/") && strings.HasPrefix(u.Path, root.Path)
		return inside && u.Scheme == root.Scheme && address(u) == address(root)
	})
}

// address returns the host and port of a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
