package source

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Location is where objects lie: a folder of a repo at a commit, or a folder of this machine.
type Location struct {
	Repo   string
	Branch string // whose head is read where no commit is named; else where the commit lies, empty where that is not known
	Commit string
	Path   string // from the repo's root

	Directory string // of this machine; then there is no repo

	NamedBy string // the object that names the place, by where it stands; empty: an argument does
}

// String names the place in messages.
func (p Location) String() string {
	switch {
	case p.Directory != "":
		return p.Directory
	case p.Commit == "":
		return fmt.Sprintf("%s, branch %s, path %s", displayURL(p.Repo), p.Branch, p.Path)
	}
	return Origin{Repo: displayURL(p.Repo), Commit: p.Commit, Path: p.Path}.String()
}

// displayURL is the URL of a repo as messages have it: one that can't be used may hold a password.
func displayURL(url string) string {
	at, err := gitremote.ParseURL(url)
	if err != nil {
		return ""
	}
	return at.String()
}

// key is the key of what came from a file of the place.
func (p Location) key(file, name string) string {
	if p.Directory != "" {
		return Origin{Path: file, Name: name}.inRepo()
	}
	return Origin{p.Repo, p.Commit, file, name}.String()
}

// What can be wrong with a place, beside what package gitremote tells apart.
var (
	// ErrFolderNotFound: the repo has no such folder at the commit.
	ErrFolderNotFound = errors.New("no such folder")
	// ErrInvalidCommit: a commit is not named by its full hash.
	ErrInvalidCommit = errors.New("not the full hash of a commit")
)

var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// check makes the place one that can be asked for: the repo's URL in its normal form, the path clean.
func (p Location) check() (Location, error) {
	if p.Directory != "" {
		return p, nil
	}
	at, err := gitremote.ParseURL(p.Repo)
	if err != nil {
		return p, err
	}
	p.Repo = at.String()
	if p.Path, err = cleanPath(p.Path); err != nil {
		return p, err
	}
	switch {
	case p.Commit != "" && !commitForm.MatchString(p.Commit):
		return p, fmt.Errorf("%q is %w, which has 40 digits in lower case", p.Commit, ErrInvalidCommit)
	case p.Commit == "":
		return p, gitops.CheckName(p.Branch)
	}
	return p, nil
}

// problem is what a place that can't be read is reported as.
func (p Location) problem(registration string, err error) Problem {
	return Problem{Registration: registration, Location: p, Summary: problemSummary(err), Detail: problemDetail(p, err)}
}

func problemSummary(err error) string {
	for _, known := range []struct {
		kind error
		text string
	}{
		{gitops.ErrBranchNotFound, "Branch not found"},
		{gitops.ErrCommitNotFound, "Commit not found"},
		{ErrFolderNotFound, "Folder not found"},
		{ErrInvalidCommit, "Invalid commit"},
	} {
		if errors.Is(err, known.kind) {
			return known.text
		}
	}
	if known := gitremote.Summary(err); known != "" {
		return known
	}
	return "Place can't be read"
}

func problemDetail(p Location, err error) string {
	text := fleet.Sentence(err)
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound):
		return fmt.Sprintf("The repo has no branch %q. Check its name, or push the branch.", p.Branch)
	case errors.Is(err, gitops.ErrCommitNotFound):
		return text + " It may have been pushed away by force, or lie in another repo. Name one that is there."
	case errors.Is(err, context.DeadlineExceeded):
		return text + " Raise timeouts, or look at why the server is slow."
	case errors.Is(err, gitremote.ErrTooLarge):
		return text + " Have the server filter what it sends (uploadpack.allowFilter), or keep the objects in a smaller repo."
	}
	return text
}

// folderNotFound is why a path is no folder, by what is there instead.
func folderNotFound(p string, at kind) error {
	switch at {
	case link:
		return fmt.Errorf("%w: %q is a symbolic link, which is not followed. Name the folder that it leads to", ErrFolderNotFound, p)
	case module:
		return fmt.Errorf("%w: %q is a submodule, which is not followed. Name the submodule's own repo", ErrFolderNotFound, p)
	case file:
		return fmt.Errorf("%w: %q is a file. Name its folder, %q", ErrFolderNotFound, p, path.Dir(p))
	}
	return fmt.Errorf("%w: there is no %q at this commit. Check the path, which is from the repo's root", ErrFolderNotFound, p)
}
