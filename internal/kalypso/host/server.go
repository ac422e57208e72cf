package host

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	giturl "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/url"
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
	other := func(reason string) error {
		return &Error{
			Op:   "find " + loc.String() + " on the " + s.Name + " server " + s.Web.String(),
			Kind: ErrOtherHost, Cause: errors.New(reason), Host: s.Name, Block: s.Block,
		}
	}
	folder, served := s.folder(loc)
	if !served {
		return nil, other(cmp.Or(loc.Host, "this machine") + " is another server")
	}
	inside, ok := strings.CutPrefix("/"+strings.Trim(loc.Path, "/"), folder+"/")
	parts := strings.Split(strings.TrimSuffix(inside, ".git"), "/")
	if !ok || !valid(parts) || giturl.AmbiguousPath(loc.Path) {
		return nil, other(form)
	}
	return parts, nil
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
