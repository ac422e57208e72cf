// Package origin names where objects were read: a file of a repo, on a branch, and the commits at which the places were
// read. A key names the branch and not the commit, so that a commit which changes no object changes no key.
package origin

import (
	"path"
	"regexp"
	"strings"
)

// Origin is the file that an object was read from.
type Origin struct {
	Repo   string // its URL, without blanks
	Branch string // empty: the key names the commit
	// Via is the registration or BaseRepo through which it was read, where the place was read at other commits too; else empty.
	Via    string
	Commit string // its full hash; empty: not known
	Path   string // of the file, from the repo's root
	Name   string // tells the objects of one file apart; empty where it holds one
}

// String returns the origin as keys of manifests and the record of a rendering have it: repo@branch[~via]:path[#name], or
// repo@commit:path[#name] where there is no branch.
func (o Origin) String() string { return o.place() + ":" + o.File() }

// File returns path[#name].
func (o Origin) File() string {
	if o.Name == "" {
		return o.Path
	}
	return o.Path + "#" + o.Name
}

// place returns the repo with the branch or commit.
func (o Origin) place() string {
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
	fileForm = regexp.MustCompile(`^(.+?)(?:#([^#]*))?$`)
)

// Parse reads what [Origin.String] writes; ok is false where text has another form.
func Parse(text string) (o Origin, ok bool) {
	o, file, ok := parsePlace(text)
	m := fileForm.FindStringSubmatch(file)
	if !ok || m == nil {
		return Origin{}, false
	}
	o.Path, o.Name = m[1], m[2]
	return o, true
}

// parsePlace reads repo@branch[~via] or repo@commit, and what follows the colon. In Git, neither a colon nor a tilde is part
// of a branch's name.
func parsePlace(text string) (o Origin, rest string, ok bool) {
	if m := atCommit.FindStringSubmatch(text); m != nil {
		return Origin{Repo: m[1], Commit: m[2]}, m[3], true
	}
	host := hostLength(text)
	if host < 0 {
		return Origin{}, "", false
	}
	place, rest, ok := strings.Cut(text[host:], ":")
	repo, ref, hasRef := strings.Cut(place, "@")
	o.Repo = text[:host] + repo
	o.Branch, o.Via, _ = strings.Cut(ref, "~")
	if !ok || !hasRef || o.Branch == "" || strings.ContainsAny(o.Repo+ref, " \t\r\n") {
		return Origin{}, "", false
	}
	return o, rest, true
}

// hostLength returns the length of what names a repo's server, which may hold @ and colons; -1 where text begins with no repo.
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

// Sources are the commits at which places were read: repo@branch[~via]:path of a folder → full hash.
type Sources map[string]string

// Place returns the key of a folder that was read; "." is the root. Of the origin, Path and Name do not count.
func Place(o Origin, folder string) string {
	o.Path, o.Name = path.Clean(folder), ""
	return o.String()
}

// IsPlace reports whether a key has the form of a place.
func IsPlace(key string) bool {
	_, _, ok := parsePlace(key)
	return ok
}

// Resolve returns the origins that keys name, with their commits as far as they are known. Keys of other forms are left out.
// Of the places that hold a file the nearest counts.
func (s Sources) Resolve(keys []string) []Origin {
	places := s.places()
	var all []Origin
	for _, key := range keys {
		if o, ok := Parse(key); ok {
			if o.Commit == "" {
				o.Commit = s[places.nearest(o)]
			}
			all = append(all, o)
		}
	}
	return all
}

// Of returns those of the sources that the keys lie in; nil where there are none.
func (s Sources) Of(keys []string) Sources {
	places := s.places()
	var named Sources
	for _, key := range keys {
		if o, ok := Parse(key); ok && o.Commit == "" {
			if place := places.nearest(o); place != "" {
				if named == nil {
					named = Sources{}
				}
				named[place] = s[place]
			}
		}
	}
	return named
}

// placeIndex finds the keys of sources by their normal form.
type placeIndex map[string]string

func (s Sources) places() placeIndex {
	index := make(placeIndex, len(s))
	for key := range s {
		o, folder, ok := parsePlace(key)
		if !ok {
			continue
		}
		normal := Place(o, strings.TrimLeft(folder, "/"))
		if other, twice := index[normal]; !twice || key < other {
			index[normal] = key
		}
	}
	return index
}

// nearest returns the key of the nearest place that holds the file of an origin; "" where there is none.
func (index placeIndex) nearest(o Origin) string {
	for at := path.Clean(o.Path); ; at = path.Dir(at) {
		if key, ok := index[Place(o, at)]; ok {
			return key
		}
		if at == "." || at == "/" {
			return ""
		}
	}
}
