package github

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
)

// maxRedirects bounds the redirects within the API. A renamed repo has one.
const maxRedirects = 3

// Redirects that are not followed. Their body is never shown.
var (
	errOutsideAPI = errors.New("the server redirects to an address outside its API, " +
		"which gets neither the request nor the credential")
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

// contains reports whether a URL belongs to the API: it has the same scheme, host, port and path prefix, and is
// unambiguous.
func (e endpoints) contains(u *url.URL) bool {
	ambiguous := u.RawPath != "" || repourl.AmbiguousPath(u.Path)
	if ambiguous || u.Scheme != e.rest.Scheme || address(u) != address(e.rest) || u.User != nil {
		return false
	}
	return strings.HasPrefix(u.Path, e.rest.Path) || u.Path == e.graphql.Path
}

// address returns the host and port of a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
