// Package giturl parses and normalizes the URL of a Git repository, and compares the repositories and servers of URLs.
// It contacts no server.
package giturl

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// The schemes of a [URL].
const (
	schemeFile  = "file"
	SchemeHTTP  = "http"
	SchemeHTTPS = "https"
	SchemeSSH   = "ssh"
)

var defaultPorts = map[string]int{SchemeHTTP: 80, SchemeHTTPS: 443, SchemeSSH: 22}

// URL is the parsed and normalized URL of a repository. It never contains a secret.
type URL struct {
	Scheme string // file, http, https or ssh
	User   string // SSH only; empty if not given
	Host   string // lower case; an IPv6 address has no brackets
	Port   int    // 0 only for file
	Path   string // as written; without a leading slash only if relative to an SSH home
}

// escapeReserved escapes the characters of a local path that would end the path of a URL.
var escapeReserved = strings.NewReplacer("%", "%25", "#", "%23", "?", "%3F")

// escapeLocal escapes a local path for a URL, also white space at its end, which [Parse] would remove.
func escapeLocal(p string) string {
	kept := strings.TrimRightFunc(p, unicode.IsSpace)
	return escapeReserved.Replace(kept) + url.PathEscape(p[len(kept):])
}

// String returns the normalized URL. URLs of one repository are equal after normalization, if they differ only in the
// case of the host, a default port or the short form.
func (u URL) String() string {
	if u.Scheme == schemeFile {
		return "file://" + escapeLocal(u.Path)
	}
	var b strings.Builder
	b.WriteString(u.Scheme + "://")
	if u.User != "" {
		b.WriteString(url.User(u.User).String() + "@")
	}
	b.WriteString(u.HostPort())
	p := u.Path
	if p != "" && !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	b.WriteString((&url.URL{Path: p}).EscapedPath())
	return b.String()
}

// HostPort returns the host, with the port unless it is the default of the scheme.
func (u URL) HostPort() string {
	if u.Port == defaultPorts[u.Scheme] {
		if strings.Contains(u.Host, ":") {
			return "[" + u.Host + "]"
		}
		return u.Host
	}
	return u.Address()
}

// Address returns host:port for dialing.
func (u URL) Address() string { return net.JoinHostPort(u.Host, strconv.Itoa(u.Port)) }

// Name returns the path without slashes around it and without a trailing ".git", such as acme/gitops.
func (u URL) Name() string { return strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git") }

// IsLoopback reports whether the host is this machine, regardless of DNS.
func (u URL) IsLoopback() bool { return IsLoopbackHost(u.Host) }

// IsLoopbackHost reports whether a host name or an IP address is this machine, regardless of DNS.
func IsLoopbackHost(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// IsLocal reports whether the repository is on this machine.
func (u URL) IsLocal() bool { return u.Scheme == schemeFile }
