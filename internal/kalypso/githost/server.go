package githost

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// Server is the server on which a host serves repos.
type Server struct {
	Name, Block string   // of the host, as in [Traits]
	Web         *url.URL // of its pages and of Git over HTTPS, without a slash at the end; the path is the host's folder
	SSH         []string // hosts of Git over SSH, in lower case; they have ports of their own, but no folder
}

// Find returns the parts of a repo's path on the server, without ".git". If the repo is on another server, the error is
// an [ErrOtherHost]. valid reports whether the parts can name a repo, and form describes such a path for the error.
func (s Server) Find(repoURL, form string, valid func(parts []string) bool) ([]string, error) {
	loc, err := giturl.Parse(repoURL)
	if err != nil {
		return nil, err
	}
	folder, served := s.folder(loc)
	if !served {
		return nil, s.Other(loc, "")
	}
	inside, ok := strings.CutPrefix("/"+strings.Trim(loc.Path, "/"), folder+"/")
	parts := strings.Split(strings.TrimSuffix(inside, ".git"), "/")
	if !ok || !valid(parts) || giturl.AmbiguousPath(loc.Path) {
		return nil, s.Other(loc, form)
	}
	return parts, nil
}

// onServer is between an operation and a server in the error of [Server.Other].
const onServer = " on the "

// Other returns the [ErrOtherHost] of a URL whose path does not have the form of a repo's, or "" if its server is
// another one.
func (s Server) Other(loc giturl.URL, form string) error {
	return &Error{
		Op: "find " + loc.String() + onServer + s.Name + " server " + s.Web.String(), Host: s.Name, Block: s.Block,
		Kind: ErrOtherHost, Cause: errors.New(cmp.Or(form, cmp.Or(loc.Host, "this machine")+" is another server")),
	}
}

// folder returns the folder of the repos in a URL, and whether the URL is on the server.
func (s Server) folder(loc giturl.URL) (folder string, served bool) {
	switch loc.Scheme {
	case giturl.SchemeHTTPS, giturl.SchemeHTTP:
		web, err := giturl.Parse(s.Web.Scheme + "://" + s.Web.Host + "/")
		return s.Web.Path, err == nil && web.Host == loc.Host && web.Port == loc.Port
	case giturl.SchemeSSH:
		return "", slices.Contains(s.SSH, loc.Host)
	}
	return "", false
}

// ownerOrName matches valid names of owners and repos.
var ownerOrName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// OwnerAndName reports whether the parts of a path are an owner and the name of a repo; see [Server.Find].
func OwnerAndName(parts []string) bool {
	return len(parts) == 2 && ownerOrName.MatchString(parts[0]) && ownerOrName.MatchString(parts[1])
}
