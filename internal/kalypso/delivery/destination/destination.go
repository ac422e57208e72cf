// Package destination says where renderings write to: a path on a branch of a repo.
package destination

import (
	"fmt"
	"path"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// RecordFile is the path of a rendering's record below the path of its destination. Package record says what it
// contains.
const RecordFile = ".kalypso/rendering.json"

// Destination is the location that a rendering writes to: a path on a branch of a repo.
type Destination struct {
	Repo   string `json:"repo"`
	Branch string `json:"branch"`
	Path   string `json:"path"` // from the repo's root; see [CleanPath]
}

// New returns a destination with the path in the form of [CleanPath]. It keeps an invalid path as it is, for
// [Destination.Validate].
func New(repo, branch, path string) Destination {
	if clean, err := CleanPath(path); err == nil && !unknown.Is(path) {
		path = clean
	}
	return Destination{Repo: repo, Branch: branch, Path: path}
}

// Validate reports an invalid repo, branch or path of the argument gitops_repo, and a missing one if it is required.
func (p Destination) Validate(required bool) (ps problem.Problems) {
	add := func(attribute, summary, detail string) {
		ps = append(ps, problem.At(summary, detail, "gitops_repo", attribute))
	}
	check := func(attribute, summary, value string, check func(string) error) {
		if value == "" || unknown.Is(value) {
			return
		}
		if err := check(value); err != nil {
			add(attribute, summary, problem.Sentence(err))
		}
	}
	switch {
	case !required:
	case p.Repo == "" && p.Branch == "":
		ps = append(ps, problem.At("Missing GitOps repo",
			"gitops_repo is required, with repo and branch.", "gitops_repo"))
	case p.Repo == "":
		add("repo", "Missing repo", "gitops_repo needs the URL of the repo.")
	case p.Branch == "":
		add("branch", "Missing branch", "gitops_repo needs the branch.")
	}
	check("repo", "Invalid repo URL", p.Repo, checkRepo)
	check("branch", "Invalid branch name", p.Branch, gitbranch.CheckName)
	check("path", "Invalid path", p.Path, CheckPath)
	return ps
}

// checkRepo returns an error for a URL that names no repo, such as the root of a host, which a credential may have.
func checkRepo(url string) error {
	at, err := giturl.Parse(url)
	if err == nil && !at.IsLocal() && strings.Trim(at.Path, "/") == "" {
		return errNoRepo
	}
	return err
}

// String names the destination in messages.
func (p Destination) String() string {
	return fmt.Sprintf("path %q on branch %q of %s", p.Path, p.Branch, p.Repo)
}

// SameBranch reports whether both destinations are on one branch. Different spellings of the repo's URL do not matter.
func (p Destination) SameBranch(other Destination) bool {
	return p.Branch == other.Branch && giturl.Same(p.Repo, other.Repo)
}

// Same reports whether both are the same location.
func (p Destination) Same(other Destination) bool { return p.SameBranch(other) && p.Path == other.Path }

// Join returns the path from the repo's root of name, which is relative to the destination.
func (p Destination) Join(name string) string { return path.Join(p.Path, name) }

// RecordPath returns the path of the record from the repo's root.
func (p Destination) RecordPath() string { return p.Join(RecordFile) }

// CleanPath returns a path from the repo's root in canonical form: "." for the root, else without a leading "./" or a
// trailing slash. It returns an error if the path is absolute, leaves the repo, can't be checked out, or is
// reserved by Git or for the record.
func CleanPath(p string) (string, error) {
	if strings.HasPrefix(p, "/") || strings.Contains(p, `\`) || strings.ContainsRune(p, 0) {
		return "", fmt.Errorf(
			"%q is not a relative path with forward slashes; write it from the repo's root, such as \"clusters\" or \".\"", p)
	}
	if err := gitbranch.CheckFolder(p); err != nil {
		return "", fmt.Errorf("%w; choose another folder", err)
	}
	clean := path.Clean(p)
	for part := range strings.SplitSeq(clean, "/") {
		switch {
		case part == "..":
			return "", fmt.Errorf("%q leaves the repo; write it from the repo's root, such as \"clusters\" or \".\"", p)
		case part != "." && gitbranch.CheckPath(part) != nil:
			return "", fmt.Errorf(
				"%q contains %q, which Git does not allow as a folder, or which means .git on some machine; choose another folder",
				p, part)
		case part == path.Dir(RecordFile):
			return "", fmt.Errorf("%q contains %s, the folder of the rendering's record; choose another folder", p, part)
		}
	}
	return clean, nil
}

// CheckPath returns the error of [CleanPath].
func CheckPath(p string) error {
	_, err := CleanPath(p)
	return err
}

// Nested reports whether one of two clean paths contains the other, or equals it.
func Nested(a, b string) bool {
	return a == b || a == "." || b == "." || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}
