package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Location is a folder to read objects from, in a repo at a commit or on this machine.
type Location struct {
	Repo   string
	Branch string // if Commit is empty, the head of Branch is read; otherwise the branch of Commit, or empty
	Commit string
	Path   string // relative to the repo's root
	// Via is the registration or BaseRepo that names the location. It is set only if the location, or a folder in it, is
	// read at several commits.
	Via string

	Directory string // a local folder; then there is no repo

	Verify *Verification // checks the commit's signature; nil: any commit is accepted
	Signer string        // of the commit, once it is verified

	NamedBy string // who names this location: the origin of an object, or the promotion; empty: an argument
	name    string // of that object, a registration or BaseRepo
}

// String returns the location as messages name it.
func (p Location) String() string {
	switch {
	case p.Directory != "":
		return p.Directory
	case p.Commit == "":
		return fmt.Sprintf("%s, branch %s, path %s", displayURL(p.Repo), p.Branch, p.Path)
	}
	return origin.Origin{Repo: displayURL(p.Repo), Commit: p.Commit, Path: p.Path}.String()
}

// displayURL returns the URL of a repo for messages, or "" if it is invalid, because it may contain a password.
func displayURL(url string) string {
	at, err := giturl.Parse(url)
	if err != nil {
		return ""
	}
	return at.String()
}

// key returns the key in manifests of an object in a file, or of the whole file if name is empty. For a local
// directory, the key does not name the location.
func (p Location) key(file, name string) string {
	o := p.origin()
	o.Path, o.Name = file, name
	if p.Directory != "" {
		return o.File()
	}
	return o.String()
}

func (p Location) origin() origin.Origin {
	return origin.Origin{Repo: p.Repo, Branch: p.Branch, Via: p.Via, Commit: p.Commit}
}

// disambiguate sets Via of the locations that were read from the same folder of a branch, or from nested folders, at
// several commits.
func disambiguate(locations []*Location) {
	byFolder := map[string][]*Location{}
	for _, p := range locations {
		if p.Directory == "" && p.Branch != "" {
			key := origin.Location(p.origin(), p.Path)
			byFolder[key] = append(byFolder[key], p)
		}
	}
	var conflicting []*Location
	for _, p := range slices.Concat(slices.Collect(maps.Values(byFolder))...) {
		for at := path.Clean(p.Path); ; at = path.Dir(at) {
			for _, other := range byFolder[origin.Location(p.origin(), at)] {
				if other.Commit != p.Commit {
					conflicting = append(conflicting, p, other)
				}
			}
			if at == path.Dir(at) { // "." or "/" for an invalid path
				break
			}
		}
	}
	for _, p := range conflicting {
		p.Via = p.name
	}
}

// The errors of a location, in addition to the errors of package gitremote.
var (
	// ErrFolderNotFound means that the repo has no such folder at the commit.
	ErrFolderNotFound = errors.New("no such folder")
	// ErrInvalidCommit means that a commit is not named by its full hash.
	ErrInvalidCommit = errors.New("not the full hash of a commit")
)

var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// check returns the location with a normalized URL and a clean path, or an error if it is invalid.
func (p Location) check() (Location, error) {
	if p.Directory != "" {
		if p.Verify != nil {
			return p, fmt.Errorf("%w: %s is a folder on this machine, and only commits are signed", errUnverified, p.Directory)
		}
		return p, nil
	}
	at, err := giturl.Parse(p.Repo)
	if err != nil {
		return p, err
	}
	p.Repo = at.String()
	p.Path, err = cleanPath(p.Path)
	if err != nil {
		return p, err
	}
	switch {
	case p.Commit != "" && !commitForm.MatchString(p.Commit):
		return p, fmt.Errorf("%q is %w: 40 hexadecimal digits in lower case", p.Commit, ErrInvalidCommit)
	case p.Commit == "" || p.Branch != "":
		return p, gitbranch.CheckName(p.Branch)
	}
	return p, nil
}

// problem returns the problem of a location that can't be read.
func (p Location) problem(registration string, err error) Problem {
	summary, detail := gitremote.Summary(err), problem.Sentence(err)
	switch {
	case errors.Is(err, gitbranch.ErrBranchNotFound):
		summary = "Branch not found"
		detail = fmt.Sprintf("The repo has no branch %q. Check its name, or push the branch.", p.Branch)
	case errors.Is(err, gitbranch.ErrCommitNotFound):
		summary = "Commit not found"
		detail += " A force push may have removed it, or it is in another repo. Name a commit that exists."
	case errors.Is(err, ErrFolderNotFound):
		summary = "Folder not found"
	case errors.Is(err, ErrInvalidCommit):
		summary = "Invalid commit"
	case errors.Is(err, errUnverified):
		summary = "Commit not verified"
		detail += " Check who wrote the commit. If it is correct, sign a commit on top of it with a key of verify, or add " +
			"the key that signed it."
	case errors.Is(err, gitobject.ErrBadTree):
		summary = "Corrupt tree in the repo"
		detail += " Remove the entry in a new commit."
	case errors.Is(err, gitbranch.ErrTooManyEntries), errors.Is(err, gitbranch.ErrPathTooLong),
		errors.Is(err, gitobject.ErrTooManyEntries), errors.Is(err, errTooManyFiles), errors.Is(err, errIgnoreWork):
		summary = "Folder too large"
		detail += " Name a smaller folder, or remove what is not read."
	case errors.Is(err, context.DeadlineExceeded):
		detail += " Raise timeouts, or find out why the server is slow."
	case errors.Is(err, gitremote.ErrTooLarge):
		detail += " Enable partial clone on the server (uploadpack.allowFilter), or keep the objects in a smaller repo."
	}
	return Problem{
		Registration: registration, Location: p, Summary: cmp.Or(summary, "Location can't be read"), Detail: detail,
	}
}

// folderNotFound returns the error for a path that is not a folder, but has another mode, or none.
func folderNotFound(p string, mode filemode.FileMode) error {
	switch mode {
	case filemode.Symlink:
		return fmt.Errorf("%w: %q is a symbolic link, which is not followed. Name the folder it points to",
			ErrFolderNotFound, p)
	case filemode.Submodule:
		return fmt.Errorf("%w: %q is a submodule, which is not followed. Name the submodule's own repo", ErrFolderNotFound, p)
	case filemode.Empty:
		return fmt.Errorf("%w: %q does not exist at this commit. Check the path, which is relative to the repo's root",
			ErrFolderNotFound, p)
	}
	return fmt.Errorf("%w: %q is a file. Name its folder, %q", ErrFolderNotFound, p, path.Dir(p))
}
