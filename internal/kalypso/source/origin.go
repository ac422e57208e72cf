package source

import "regexp"

// Origin says from which file of which commit an object came.
type Origin struct {
	Repo   string // its URL, without blanks
	Commit string // its full hash
	Path   string // of the file, from the repo's root
	Name   string // tells the objects of one file apart; empty where it holds one
}

// String is the origin as keys of manifests and the record of a rendering have it: repo@commit:path[#name].
func (o Origin) String() string { return o.Repo + "@" + o.Commit + ":" + o.inRepo() }

func (o Origin) inRepo() string {
	if o.Name == "" {
		return o.Path
	}
	return o.Path + "#" + o.Name
}

var originForm = regexp.MustCompile(`^(\S+?)@([0-9a-f]{40}):(.+?)(?:#([^#]*))?$`)

// ParseOrigin reads what [Origin.String] writes; ok is false where text has another form.
func ParseOrigin(text string) (o Origin, ok bool) {
	m := originForm.FindStringSubmatch(text)
	if m == nil {
		return Origin{}, false
	}
	return Origin{m[1], m[2], m[3], m[4]}, true
}
