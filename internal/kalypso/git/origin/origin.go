// Package origin identifies where objects were read: a file of a repo on a branch, and the commits of the locations. A
// key contains the branch instead of the commit, so a commit that changes no object changes no key.
package origin

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Origin identifies the file that an object was read from.
type Origin struct {
	Repo   string // URL, without spaces
	Branch string // "": the key contains the commit
	// Via names the registration or BaseRepo that led to the file. It is set only if the location was read at several
	// commits.
	Via    string
	Commit string // full hash; "": unknown
	Path   string // of the file, relative to the repo's root
	Name   string // of the object, if the file contains several; else ""
}

// String returns the origin as a key of manifests and of a rendering's record: repo@branch[~via]:path[#name], or
// repo@commit:path[#name] without a branch.
func (o Origin) String() string { return o.location() + ":" + o.File() }

// File returns path[#name].
func (o Origin) File() string {
	if o.Name == "" {
		return o.Path
	}
	return o.Path + "#" + o.Name
}

// location returns the repo with the branch or commit.
func (o Origin) location() string {
	switch {
	case o.Branch == "":
		return o.Repo + "@" + o.Commit
	case o.Via == "":
		return o.Repo + "@" + o.Branch
	}
	return o.Repo + "@" + o.Branch + "~" + o.Via
}

var (
	atCommit = regexp.MustCompile(`^(\S+?)@([0-9a-f]{40}):(.*)$`)
	scpLike  = regexp.MustCompile(`^[^/@:\s]+@[^/@:\s]+:`)
	fileForm = regexp.MustCompile(`^(.+?)(?:#([^#]+))?$`)
)

// Parse parses the format of [Origin.String]. ok is false if text has another format.
func Parse(text string) (o Origin, ok bool) {
	o, file, ok := parseLocation(text)
	m := fileForm.FindStringSubmatch(file)
	if !ok || m == nil {
		return Origin{}, false
	}
	o.Path, o.Name = m[1], m[2]
	return o, true
}

// parseLocation parses repo@branch[~via] or repo@commit, and returns the text after the colon. Git does not allow
// colons and tildes in branch names.
func parseLocation(text string) (o Origin, rest string, ok bool) {
	if m := atCommit.FindStringSubmatch(text); m != nil {
		return Origin{Repo: m[1], Commit: m[2]}, m[3], true
	}
	host := hostLength(text)
	if host < 0 {
		return Origin{}, "", false
	}
	location, rest, ok := strings.Cut(text[host:], ":")
	repo, ref, hasRef := strings.Cut(location, "@")
	o.Repo = text[:host] + repo
	o.Branch, o.Via, _ = strings.Cut(ref, "~")
	if !ok || !hasRef || o.Branch == "" || strings.ContainsAny(o.Repo+ref, " \t\r\n") {
		return Origin{}, "", false
	}
	return o, rest, true
}

// hostLength returns the length of the server part of a repo, which may contain @ and colons, or -1 if text does not
// start with a repo.
func hostLength(text string) int {
	if scheme, rest, ok := strings.Cut(text, "://"); ok && !strings.ContainsAny(scheme, "/@:") {
		if i := strings.Index(rest, "/"); i >= 0 {
			return len(scheme) + len("://") + i
		}
		return -1
	}
	if m := scpLike.FindString(text); m != "" {
		return len(m)
	}
	if strings.HasPrefix(text, "/") {
		return 0
	}
	return -1
}

// Sources maps locations to the commits at which they were read: repo@branch[~via]:path of a folder → full hash.
type Sources map[string]string

// Validate reports sources that do not have the form that the data sources write. It reports nothing if some are not
// known yet. at leads to the argument.
func (s Sources) Validate(at problem.Step) (ps problem.Problems) {
	if unknown.Any(s) {
		return nil
	}
	for _, location := range slices.Sorted(maps.Keys(s)) {
		p := problem.Problem{Path: []problem.Step{at, problem.Key(location)}}
		switch commit := s[location]; {
		case !isLocation(location):
			p.Summary = "Invalid source"
			p.Detail = fmt.Sprintf(
				"%q does not name a folder in Git. Such a key has the form <repo>@<branch>:<path>. Usually sources is the "+
					"output sources of a data source.", location)
		case commit == "" || strings.ContainsFunc(commit, unicode.IsSpace):
			p.Summary, p.Detail = "Invalid commit", fmt.Sprintf("%q is not a commit. Write its full hash.", commit)
		default:
			continue
		}
		ps = append(ps, p)
	}
	return ps
}

// Location returns the key of a folder that was read; "." is the root. It ignores Path and Name of the origin.
func Location(o Origin, folder string) string {
	o.Path, o.Name = path.Clean(folder), ""
	return o.String()
}

// isLocation reports whether a key has the format of a location.
func isLocation(key string) bool {
	_, _, ok := parseLocation(key)
	return ok
}

// Resolve returns the origins of keys, with their commits if known. It skips keys of other formats. If several
// locations contain a file, the innermost location decides.
func (s Sources) Resolve(keys []string) []Origin {
	locations := s.locations()
	var all []Origin
	for _, key := range keys {
		if o, ok := Parse(key); ok {
			if o.Commit == "" {
				o.Commit = s[locations.nearest(o)]
			}
			all = append(all, o)
		}
	}
	return all
}

// Of returns the sources that contain the keys, or nil.
func (s Sources) Of(keys []string) Sources {
	locations := s.locations()
	var named Sources
	for _, key := range keys {
		if o, ok := Parse(key); ok && o.Commit == "" {
			if location := locations.nearest(o); location != "" {
				if named == nil {
					named = Sources{}
				}
				named[location] = s[location]
			}
		}
	}
	return named
}

// locationIndex maps normalised keys to the keys of sources.
type locationIndex map[string]string

func (s Sources) locations() locationIndex {
	index := make(locationIndex, len(s))
	for key := range s {
		o, folder, ok := parseLocation(key)
		if !ok {
			continue
		}
		normal := Location(o, strings.TrimLeft(folder, "/"))
		if other, twice := index[normal]; !twice || key < other {
			index[normal] = key
		}
	}
	return index
}

// nearest returns the key of the innermost location that contains the file of an origin, or "".
func (index locationIndex) nearest(o Origin) string {
	for at := path.Clean(o.Path); ; at = path.Dir(at) {
		if key, ok := index[Location(o, at)]; ok {
			return key
		}
		if at == "." || at == "/" {
			return ""
		}
	}
}
