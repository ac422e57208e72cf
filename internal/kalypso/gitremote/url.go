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

// schemes are all that a repository URL may have, in the order of messages.
var schemes = []string{schemeHTTPS, schemeHTTP, schemeSSH, schemeFile}

var defaultPorts = map[string]int{schemeHTTP: 80, schemeHTTPS: 443, schemeSSH: 22}

// scpLike is Git's short form of an SSH URL, "git@host:path". A colon after
// the first slash belongs to a path, so the host holds no slash.
var scpLike = regexp.MustCompile(`^(?:([^@/\s]+)@)?(\[[0-9A-Fa-f:.]+\]|[^:/\s\[\]]+):(.+)$`)

// Location is where a repository is: its URL, parsed and normalised. It never
// holds a secret.
type Location struct {
	Scheme string // file, http, https or ssh
	User   string // of SSH alone, where the URL names one
	Host   string // lower case, an IPv6 address without its brackets
	Port   int    // never 0 but for file
	Path   string // as written, with its leading slash unless it is a path relative to an SSH home
}

// ParseURL parses the URL of a repository: file:// or an absolute local path,
// http(s)://, ssh://, or the short SSH form user@host:path. A URL that carries
// a password or a query is an error that does not repeat it.
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
	return Location{}, errors.New("the repository URL is neither a URL with a scheme (" + strings.Join(schemes, ", ") +
		"), nor user@host:path, nor an absolute path")
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

var errPasswordInURL = errors.New("the repository URL carries a user name or password; " +
	"take it out and put it into git_credentials of the provider")

func parseSchemeURL(repo string) (Location, error) {
	scheme, _, _ := strings.Cut(repo, "://")
	loc := Location{Scheme: strings.ToLower(scheme)}
	if !slices.Contains(schemes, loc.Scheme) {
		return Location{}, fmt.Errorf("the scheme of the repository URL is not supported; use one of %s", strings.Join(schemes, ", "))
	}
	u, err := url.Parse(repo)
	if err != nil {
		// The text of url.Parse repeats the URL, and with it what it may hide.
		return Location{}, errors.New("the repository URL does not parse")
	}
	if u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return Location{}, errors.New("the repository URL has a query or a fragment; a repository URL ends with its path")
	}
	if u.User != nil {
		_, hasPassword := u.User.Password()
		// Over HTTP the user name alone may be a token.
		if hasPassword || loc.Scheme != schemeSSH {
			return Location{}, errPasswordInURL
		}
		loc.User = u.User.Username()
	}
	loc.Path = u.Path
	if loc.Scheme == schemeFile {
		if u.Host != "" && u.Host != "localhost" {
			return Location{}, errors.New(`a file URL names no host: write "file:///path"`)
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
		return Location{}, errors.New("a file URL holds an absolute path")
	}
	loc.Path = path.Clean(loc.Path)
	return loc, nil
}

func normalHost(host string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// String is the URL in one normal form: two URLs of one repository that differ
// in case, default port or short form alone have the same.
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

// Key is the same for two locations that are one repository, whoever the user
// is and whether ".git" is written out.
func (l Location) Key() string {
	l.User = ""
	l.Path = strings.TrimSuffix(strings.TrimRight(l.Path, "/"), ".git")
	return l.String()
}

// hostPort is the host with its port, where that is not the scheme's own.
func (l Location) hostPort() string {
	if l.Port == defaultPorts[l.Scheme] {
		if strings.Contains(l.Host, ":") {
			return "[" + l.Host + "]"
		}
		return l.Host
	}
	return l.address()
}

// address is host:port, as a dialer takes it.
func (l Location) address() string {
	return net.JoinHostPort(l.Host, strconv.Itoa(l.Port))
}

// loopback tells whether the host is this machine whatever DNS says.
func (l Location) loopback() bool {
	if l.Host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(l.Host)
	return err == nil && a.IsLoopback()
}

// Local tells whether the repository lies on this machine.
func (l Location) IsLocal() bool { return l.Scheme == schemeFile }

// sameServer tells whether two locations have one scheme, host and port.
func (l Location) sameServer(other Location) bool {
	return l.Scheme == other.Scheme && l.Host == other.Host && l.Port == other.Port
}

// shown is the location in a text about a redirect, whose target may be no URL
// of a repository.
func (l Location) shown() string {
	if l.Scheme == "" {
		return "an address that is not that of a repository"
	}
	return l.String()
}

// ambiguous tells whether the location's path is ambiguous; see
// [AmbiguousPath].
func (l Location) ambiguous() bool { return l.Scheme != schemeFile && AmbiguousPath(l.Path) }

// AmbiguousPath tells whether servers differ in what they take an unescaped
// path for: it climbs or stays (".", ".."), or would once a server has decoded
// it again (%), taken a backslash for a slash, or left out what follows a
// semicolon. No credential goes to one.
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

// serves tells whether l, the URL of a credential, covers repo: the same
// scheme, host and port, and its path leads repo's, segment by segment.
func (l Location) serves(repo Location) bool {
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

// segments splits a path; empty segments do not count.
func segments(p string) []string {
	p = strings.Trim(path.Clean("/"+p), "/")
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}
