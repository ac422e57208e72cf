// Package delivery brings a GitOps tree to its branch: whose the folders there are, what changed since the last
// delivery, what a change takes away, and the one commit that makes it so.
package delivery

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Destination is where a tree goes.
type Destination struct {
	Repo   string `json:"repo"`
	Branch string `json:"branch"`
	Path   string `json:"path"` // from the repo's root; see [CleanPath]
}

// String names the place in messages.
func (p Destination) String() string {
	return fmt.Sprintf("path %q on branch %q of %s", p.Path, p.Branch, p.Repo)
}

// SameBranch reports whether both places are on one branch, however its repo's URL is written.
func (p Destination) SameBranch(other Destination) bool {
	return p.Branch == other.Branch && (p.Repo == other.Repo || repoKey(p.Repo) == repoKey(other.Repo))
}

// Same reports whether both are one place.
func (p Destination) Same(other Destination) bool { return p.SameBranch(other) && p.Path == other.Path }

func repoKey(repo string) string {
	location, err := gitremote.ParseURL(repo)
	if err != nil {
		return repo
	}
	return location.Key()
}

// Join is the path from the repo's root of what lies at name below the place.
func (p Destination) Join(name string) string { return path.Join(p.Path, name) }

// RecordPath is the path of the record from the repo's root.
func (p Destination) RecordPath() string { return p.Join(RecordFile) }

// CleanPath is a path from the repo's root in the form that compares: "." for the root, else without a leading "./" or
// a trailing slash. One that is absolute, climbs out, or is Git's own is an error.
func CleanPath(p string) (string, error) {
	if strings.HasPrefix(p, "/") || strings.Contains(p, `\`) || strings.ContainsRune(p, 0) {
		return "", fmt.Errorf("%q is not a relative path with forward slashes; write it from the repo's root, such as \"clusters\" or \".\"", p)
	}
	clean := path.Clean(p)
	for part := range strings.SplitSeq(clean, "/") {
		switch {
		case part == "..":
			return "", fmt.Errorf("%q climbs out of the repo; write it from the repo's root, such as \"clusters\" or \".\"", p)
		case part != "." && gitops.CheckPath(part) != nil:
			return "", fmt.Errorf("%q lies in %q, which is no name for a folder in Git, or stands for .git on some machine; choose another folder", p, part)
		case part == path.Dir(RecordFile):
			return "", fmt.Errorf("%q lies in %s, where the record of a rendering is kept; choose another folder", p, part)
		}
	}
	return clean, nil
}

// ErrNested is two renderings whose folders would lie in each other.
var ErrNested = errors.New("two renderings at equal or nested paths")

// Nested reports whether the folders of one of the two places would lie in the other's, on one branch.
func (p Destination) Nested(other Destination) bool { return nested(p.Path, other.Path) }

// nested reports whether one of two clean paths is the other, or lies in it.
func nested(a, b string) bool {
	return a == b || a == "." || b == "." || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}
