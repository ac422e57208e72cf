package gitremote

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// Mirrors map the URLs of repositories to other locations, like Git's url.<base>.insteadOf. A repository keeps its
// name; only the connection, with its credential, goes to the mirror. The zero value maps nothing.
type Mirrors []mirror

// mirror maps the repositories below a URL.
type mirror struct {
	of giturl.URL // prefix of the repositories
	at giturl.URL // their prefix at the mirror
}

// ParseMirrors parses mirrors by the URL prefixes of their repositories. It returns all errors, sorted by prefix. They
// contain no secret.
func ParseMirrors(urls map[string]string) (all Mirrors, errs []error) {
	first := map[string]bool{}
	for _, prefix := range slices.Sorted(maps.Keys(urls)) {
		of, err := parsePrefix(prefix)
		if err != nil {
			// The prefix may contain a password.
			errs = append(errs, fmt.Errorf("one of its keys is not a URL of repos: %s", repoPrefix(err)))
			continue
		}
		at, err := parsePrefix(urls[prefix])
		if err != nil {
			errs = append(errs, fmt.Errorf("the mirror of %s is not a URL of repos: %s", of, repoPrefix(err)))
			continue
		}
		if first[of.AddressKey()] {
			errs = append(errs, fmt.Errorf("%s is set twice; remove one of the two", of))
		}
		first[of.AddressKey()] = true
		all = append(all, mirror{of, at})
	}
	return all, errs
}

func repoPrefix(err error) string { return strings.ReplaceAll(err.Error(), "repository URL", "URL") }

// parsePrefix parses the URL of a server, a folder of repositories, or one repository.
func parsePrefix(text string) (giturl.URL, error) {
	text = strings.TrimSpace(text)
	home := strings.HasSuffix(text, ":") && !strings.Contains(text, "/") // git@host: with no path yet
	if home {
		text += "x"
	}
	at, err := giturl.Parse(text)
	switch {
	case err != nil:
		return at, err
	case at.Ambiguous():
		return at, fmt.Errorf("it %s", ambiguousPath)
	case home:
		at.Path = ""
	case at.Path == "":
		at.Path = "/" // ssh://host is its root, not a home there
	}
	return at, nil
}

// locate returns where to access a repository: at the mirror with the longest prefix, or at its own URL. A prefix
// covers whole path segments. It covers no path with dot segments, so that the name of a repository can't lead out of
// the mirror.
func (m Mirrors) locate(repo giturl.URL) giturl.URL {
	best, ok := giturl.Longest(m, func(one mirror) giturl.URL { return one.of }, repo)
	if !ok {
		return repo
	}
	at := best.at
	for _, segment := range repo.Segments()[len(best.of.Segments()):] {
		if at.Path != "" && !strings.HasSuffix(at.Path, "/") {
			at.Path += "/"
		}
		at.Path += segment
	}
	return at
}
