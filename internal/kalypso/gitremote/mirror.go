package gitremote

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mirrors say where repositories are reached in place of their own URLs, like
// Git's url.<base>.insteadOf. A repository keeps its name: only the connection,
// its credential included, goes to the mirror. The zero value mirrors nothing.
type Mirrors []mirror

// mirror serves the repositories below a URL.
type mirror struct {
	of Location // what it serves
	at Location // where that is reached
}

// MirrorError is one thing wrong with one mirror. Its text holds no secret.
type MirrorError struct {
	Of     string // the prefix as it was given
	Reason string
}

func (e *MirrorError) Error() string { return e.Reason }

// MirrorErrors are all the things wrong with a set of mirrors, by prefix.
type MirrorErrors []*MirrorError

func (e MirrorErrors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n")
}

// ParseMirrors reads mirrors by the prefixes of the URLs that they serve. An
// error is a [MirrorErrors].
func ParseMirrors(urls map[string]string) (Mirrors, error) {
	var all Mirrors
	var wrong MirrorErrors
	first := map[string]bool{}
	for _, prefix := range slices.Sorted(maps.Keys(urls)) {
		report := func(format string, values ...any) {
			wrong = append(wrong, &MirrorError{Of: prefix, Reason: fmt.Sprintf(format, values...)})
		}
		of, err := parsePrefix(prefix)
		if err != nil {
			// The prefix may hold a password.
			report("one of its keys is no URL of repos: %s", repoPrefix(err))
			continue
		}
		at, err := parsePrefix(urls[prefix])
		if err != nil {
			report("the mirror of %s is no URL of repos: %s", of, repoPrefix(err))
			continue
		}
		if first[of.Key()] {
			report("%s is given twice; remove one of the two", of)
		}
		first[of.Key()] = true
		all = append(all, mirror{of, at})
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return all, nil
}

func repoPrefix(err error) string { return strings.ReplaceAll(err.Error(), "repository URL", "URL") }

// parsePrefix parses the URL of a server, of a folder of repositories there, or
// of one repository.
func parsePrefix(text string) (Location, error) {
	text = strings.TrimSpace(text)
	home := strings.HasSuffix(text, ":") && !strings.Contains(text, "/") // git@host: with no path yet
	if home {
		text += "x"
	}
	at, err := ParseURL(text)
	switch {
	case err != nil:
		return at, err
	case at.ambiguous():
		return at, fmt.Errorf("it %s", ambiguousPath)
	case home:
		at.Path = ""
	case at.Path == "":
		at.Path = "/" // ssh://host is its root, not a home there
	}
	return at, nil
}

// locate is where a repository is reached: by the mirror with the longest
// prefix, else by its own URL. A prefix covers whole segments of a path, and no
// path that climbs, so that nobody who names a repository leaves the mirror.
func (m Mirrors) locate(repo Location) Location {
	var best *mirror
	for i := range m {
		if m[i].of.serves(repo) && (best == nil || len(segments(m[i].of.Path)) > len(segments(best.of.Path))) {
			best = &m[i]
		}
	}
	if best == nil {
		return repo
	}
	at := best.at
	for _, segment := range segments(repo.Path)[len(segments(best.of.Path)):] {
		if at.Path != "" && !strings.HasSuffix(at.Path, "/") {
			at.Path += "/"
		}
		at.Path += segment
	}
	return at
}
