package source

import "regexp"

// Origin is the file and commit that an object came from.
type Origin struct {
	Repo   string // its URL, without spaces
	Commit string // its full hash
	Path   string // of the file, relative to the repo's root
	Name   string // distinguishes the objects of one file; empty if it holds one
}

// String returns the origin in the form of manifest keys and rendering records: repo@commit:path[#name].
func (o Origin) String() string { return o.Repo + "@" + o.Commit + ":" + o.inRepo() }

func (o Origin) inRepo() string {
	if o.Name == "" {
		return o.Path
	}
	return o.Path + "#" + o.Name
}

var originForm = regexp.MustCompile(`^(\S+?)@([0-9a-f]{40}):(.+?)(?:#([^#]*))?$`)

// ParseOrigin parses the form that [Origin.String] returns. ok is false if text has another form.
func ParseOrigin(text string) (o Origin, ok bool) {
	m := originForm.FindStringSubmatch(text)
	if m == nil {
		return Origin{}, false
	}
	return Origin{m[1], m[2], m[3], m[4]}, true
}
