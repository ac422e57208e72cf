package giturl

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// schemes are all supported schemes, in the order used in messages.
var schemes = []string{SchemeHTTPS, SchemeHTTP, SchemeSSH, schemeFile}

// scpLike matches Git's short form of an SSH URL, "git@host:path". A colon after the first slash belongs to the path,
// so the host contains no slash.
var scpLike = regexp.MustCompile(`^(?:([^@/\s]+)@)?(\[[0-9A-Fa-f:.]+\]|[^:/\s\[\]]+):(.+)$`)

// Parse parses the URL of a repository: file:// or an absolute local path, http(s)://, ssh://, or the short SSH
// form user@host:path. A URL with a password or a query is an error; the error does not repeat it.
func Parse(repo string) (URL, error) {
	repo = strings.TrimSpace(repo)
	switch {
	case repo == "":
		return URL{}, errors.New("the repository URL is empty")
	case strings.Contains(repo, "://"):
		return parseSchemeURL(repo)
	case strings.HasPrefix(strings.ToLower(repo), "file:"):
		return URL{}, errors.New(`a file URL starts with "file://" and an absolute path`)
	case filepath.IsAbs(repo) && strings.ContainsFunc(repo, unicode.IsControl):
		return URL{}, errControl
	case filepath.IsAbs(repo):
		return URL{Scheme: schemeFile, Path: filepath.ToSlash(filepath.Clean(repo))}, nil
	}
	if m := scpLike.FindStringSubmatch(repo); m != nil {
		return parseSCP(m[1], m[2], m[3])
	}
	return URL{}, errors.New("the repository URL is not a URL with a scheme (" + strings.Join(schemes, ", ") +
		"), user@host:path or an absolute path")
}

var errHost = errors.New("the host of the repository URL is not valid")

// emptyLabel reports whether a host ends with several dots. DNS has no such name, and with one dot fewer it would be
// another host.
func emptyLabel(host string) bool { return strings.HasSuffix(normalHost(host), ".") }

var errControl = errors.New("the path of the repository contains a control character")

func parseSCP(user, host, p string) (URL, error) {
	if strings.Contains(user, ":") {
		return URL{}, ErrPassword
	}
	if strings.HasPrefix(host, "-") || strings.HasPrefix(user, "-") {
		return URL{}, errors.New("the host or user of the repository URL starts with a dash")
	}
	if u, err := url.Parse("ssh://" + host); err != nil || u.Host != host || normalHost(host) == "" || emptyLabel(host) {
		return URL{}, errHost
	}
	at := URL{Scheme: SchemeSSH, User: user, Host: normalHost(host), Port: defaultPorts[SchemeSSH], Path: p}
	return at.unescapeAzure(), nil
}

// ErrPassword means that a URL contains a user name or password.
var ErrPassword = errors.New("the repository URL contains a user name or password; " +
	"move it to the provider's git_credentials")

func parseSchemeURL(repo string) (URL, error) {
	scheme, _, _ := strings.Cut(repo, "://")
	loc := URL{Scheme: strings.ToLower(scheme)}
	if !slices.Contains(schemes, loc.Scheme) {
		return URL{}, fmt.Errorf("the scheme of the repository URL is not supported; use one of %s",
			strings.Join(schemes, ", "))
	}
	u, err := url.Parse(repo)
	if err != nil {
		// url.Parse repeats the URL in its error, which may contain a secret.
		return URL{}, errors.New("the repository URL is not a valid URL")
	}
	if u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return URL{}, errors.New("the repository URL has a query or a fragment; remove it")
	}
	if u.User != nil {
		_, hasPassword := u.User.Password()
		// Over HTTP a user name alone may be a token.
		if !hasPassword && loc.Scheme == SchemeHTTPS && normalHost(u.Host) == azureHost {
			return URL{}, &azureUserError{(&url.URL{Scheme: loc.Scheme, Host: azureHost, Path: u.Path}).String()}
		}
		if hasPassword || loc.Scheme != SchemeSSH {
			return URL{}, ErrPassword
		}
		loc.User = u.User.Username()
	}
	loc.Path = u.Path
	if loc.Scheme == schemeFile {
		if u.Host != "" && u.Host != "localhost" {
			return URL{}, errors.New(`a file URL must not have a host; use "file:///path"`)
		}
		if !strings.HasPrefix(loc.Path, "/") {
			return URL{}, errors.New("a file URL needs an absolute path")
		}
		if strings.ContainsFunc(loc.Path, unicode.IsControl) {
			return URL{}, errControl
		}
		loc.Path = path.Clean(loc.Path)
		return loc, nil
	}
	if normalHost(u.Hostname()) == "" {
		return URL{}, errors.New("the repository URL has no host")
	}
	if emptyLabel(u.Hostname()) {
		return URL{}, errHost
	}
	loc.Host = normalHost(u.Hostname())
	if strings.HasPrefix(loc.Host, "-") || strings.HasPrefix(loc.User, "-") {
		return URL{}, errors.New("the host or user of the repository URL starts with a dash")
	}
	loc.Port = defaultPorts[loc.Scheme]
	if p := u.Port(); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 65535 {
			return URL{}, errors.New("the port of the repository URL is not a number from 1 to 65535")
		}
		loc.Port = n
	}
	return loc, nil
}

func normalHost(host string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
