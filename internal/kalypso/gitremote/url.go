package gitremote

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Schemes of a repository URL.
const (
	schemeFile  = "file"
	schemeHTTP  = "http"
	schemeHTTPS = "https"
	schemeSSH   = "ssh"
)

// schemes are all supported schemes, in the order used in messages.
var schemes = []string{schemeHTTPS, schemeHTTP, schemeSSH, schemeFile}

var defaultPorts = map[string]int{schemeHTTP: 80, schemeHTTPS: 443, schemeSSH: 22}

// scpLike matches Git's short form of an SSH URL, "git@host:path". A colon after the first slash belongs to the path,
// so the host contains no slash.
var scpLike = regexp.MustCompile(`^(?:([^@/\s]+)@)?(\[[0-9A-Fa-f:.]+\]|[^:/\s\[\]]+):(.+)$`)

// Location is the parsed and normalized URL of a repository. It never contains a secret.
type Location struct {
	Scheme string // file, http, https or ssh
	User   string // SSH only; empty if not given
	Host   string // lower case; an IPv6 address has no brackets
	Port   int    // 0 only for file
	Path   string // as written; without a leading slash only if relative to an SSH home
}

// ParseURL parses the URL of a repository: file:// or an absolute local path, http(s)://, ssh://, or the short SSH
// form user@host:path. A URL with a password or a query is an error; the error does not repeat it.
func ParseURL(repo string) (Location, error) {
	repo = strings.TrimSpace(repo)
	switch {
	case repo == "":
		return Location{}, errors.New("the repository URL is empty")
	case strings.Contains(repo, "://"):
		return parseSchemeURL(repo)
	case strings.HasPrefix(strings.ToLower(repo), "file:"):
		return Location{}, errors.New(`a file URL starts with "file://" and an absolute path`)
	case filepath.IsAbs(repo):
		return Location{Scheme: schemeFile, Path: filepath.ToSlash(filepath.Clean(repo))}, nil
	}
	if m := scpLike.FindStringSubmatch(repo); m != nil {
		return parseSCP(m[1], m[2], m[3])
	}
	return Location{}, errors.New("the repository URL is not a URL with a scheme (" + strings.Join(schemes, ", ") +
		"), user@host:path or an absolute path")
}

func parseSCP(user, host, p string) (Location, error) {
	if strings.Contains(user, ":") {
		return Location{}, errPasswordInURL
	}
	if strings.HasPrefix(host, "-") || strings.HasPrefix(user, "-") {
		return Location{}, errors.New("the host or user of the repository URL starts with a dash")
	}
	return Location{Scheme: schemeSSH, User: user, Host: normalHost(host), Port: defaultPorts[schemeSSH], Path: p}, nil
}

var errPasswordInURL = errors.New("the repository URL contains a user name or password; " +
	"move it to the provider's git_credentials")

func parseSchemeURL(repo string) (Location, error) {
	scheme, _, _ := strings.Cut(repo, "://")
	loc := Location{Scheme: strings.ToLower(scheme)}
	if !slices.Contains(schemes, loc.Scheme) {
		return Location{}, fmt.Errorf("the scheme of the repository URL is not supported; use one of %s",
			strings.Join(schemes, ", "))
	}
	u, err := url.Parse(repo)
	if err != nil {
		// url.Parse repeats the URL in its error, which may contain a secret.
		return Location{}, errors.New("the repository URL is not a valid URL")
	}
	if u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return Location{}, errors.New("the repository URL has a query or a fragment; remove it")
	}
	if u.User != nil {
		_, hasPassword := u.User.Password()
		// Over HTTP a user name alone may be a token.
		if hasPassword || loc.Scheme != schemeSSH {
			return Location{}, errPasswordInURL
		}
		loc.User = u.User.Username()
	}
	loc.Path = u.Path
	if loc.Scheme == schemeFile {
		if u.Host != "" && u.Host != "localhost" {
			return Location{}, errors.New(`a file URL must not have a host; use "file:///path"`)
		}
		return cleanFile(loc)
	}
	loc.Host = normalHost(u.Host)
	if h := u.Hostname(); h != "" {
		loc.Host = normalHost(h)
	}
	if u.Hostname() == "" {
		return Location{}, errors.New("the repository URL has no host")
	}
	if strings.HasPrefix(loc.Host, "-") || strings.HasPrefix(loc.User, "-") {
		return Location{}, errors.New("the host or user of the repository URL starts with a dash")
	}
	loc.Port = defaultPorts[loc.Scheme]
	if p := u.Port(); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 65535 {
			return Location{}, errors.New("the port of the repository URL is not a number from 1 to 65535")
		}
		loc.Port = n
	}
	return loc, nil
}

func cleanFile(loc Location) (Location, error) {
	if !strings.HasPrefix(loc.Path, "/") {
		return Location{}, errors.New("a file URL needs an absolute path")
	}
	loc.Path = path.Clean(loc.Path)
	return loc, nil
}

func normalHost(host string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// String returns the normalized URL. URLs of one repository that differ only in case, default port or short form have
// the same.
func (l Location) String() string {
	if l.Scheme == schemeFile {
		return "file://" + l.Path
	}
	var b strings.Builder
	b.WriteString(l.Scheme + "://")
	if l.User != "" {
		b.WriteString(url.User(l.User).String() + "@")
	}
	b.WriteString(l.hostPort())
	p := l.Path
	if p != "" && !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	b.WriteString((&url.URL{Path: p}).EscapedPath())
	return b.String()
}

// Key returns the same string for all locations of one repository, regardless of the user and a trailing ".git".
func (l Location) Key() string {
	l.User = ""
	l.Path = strings.TrimSuffix(strings.TrimRight(l.Path, "/"), ".git")
	return l.String()
}

// hostPort returns the host, with the port unless it is the default of the scheme.
func (l Location) hostPort() string {
	if l.Port == defaultPorts[l.Scheme] {
		if strings.Contains(l.Host, ":") {
			return "[" + l.Host + "]"
		}
		return l.Host
	}
	return l.address()
}

// address returns host:port for dialing.
func (l Location) address() string {
	return net.JoinHostPort(l.Host, strconv.Itoa(l.Port))
}

// loopback reports whether the host is this machine, regardless of DNS.
func (l Location) loopback() bool {
	if l.Host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(l.Host)
	return err == nil && a.IsLoopback()
}

// IsLocal reports whether the repository is on this machine.
func (l Location) IsLocal() bool { return l.Scheme == schemeFile }

// sameServer reports whether two locations have the same scheme, host and port.
func (l Location) sameServer(other Location) bool {
	return l.Scheme == other.Scheme && l.Host == other.Host && l.Port == other.Port
}

// display returns the location for a message about a redirect, whose target may not be a repository.
func (l Location) display() string {
	if l.Scheme == "" {
		return "an address that is not a repository"
	}
	return l.String()
}

// ambiguous reports whether the path is ambiguous; see [AmbiguousPath].
func (l Location) ambiguous() bool { return l.Scheme != schemeFile && AmbiguousPath(l.Path) }

// AmbiguousPath reports whether servers may interpret an unescaped path differently: it contains "." or ".."
// segments, or would after the server decodes it again (%), treats a backslash as a slash, or drops what follows a
// semicolon. No credential is sent to such a path.
func AmbiguousPath(p string) bool {
	if strings.ContainsAny(p, `\%`) || strings.ContainsFunc(p, unicode.IsControl) {
		return true
	}
	for segment := range strings.SplitSeq(p, "/") {
		name, _, _ := strings.Cut(segment, ";")
		if strings.Contains(name, ".") && strings.Trim(name, ". ") == "" {
			return true
		}
	}
	return false
}

// covers reports whether l, the URL of a credential, covers repo: scheme, host and port are equal, and its path is a
// prefix of repo's, segment by segment.
func (l Location) covers(repo Location) bool {
	if !l.sameServer(repo) || repo.ambiguous() {
		return false
	}
	have, want := segments(repo.Path), segments(l.Path)
	if len(want) > len(have) {
		return false
	}
	for i := range want {
		h, w := have[i], want[i]
		if i == len(want)-1 {
			h, w = strings.TrimSuffix(h, ".git"), strings.TrimSuffix(w, ".git")
		}
		if h != w {
			return false
		}
	}
	return true
}

// segments splits a path and drops empty segments.
func segments(p string) []string {
	p = strings.Trim(path.Clean("/"+p), "/")
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}
