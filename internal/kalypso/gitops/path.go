package gitops

import (
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
)

// entry is one line of a tree.
type entry = gitobject.Entry[plumbing.Hash]

func treeEntry(e entry) object.TreeEntry {
	mode, err := filemode.New(e.Mode)
	if err != nil {
		mode = filemode.Empty
	}
	return object.TreeEntry{Name: e.Name, Mode: mode, Hash: e.Hash}
}

// errName is a name that a tree cannot hold.
var errName = errors.New("not a name that Git can hold")

// splitPath gives the names of a path from the repository's root. "." is the
// root, without names.
func splitPath(path string) ([]string, error) {
	if path == "." {
		return nil, nil
	}
	names := strings.Split(path, "/")
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, &PathError{Path: path, Err: err}
		}
	}
	return names, nil
}

// CheckPath refuses paths that a tree cannot hold, or git fsck --strict refuses.
func CheckPath(path string) error {
	_, err := splitPath(path)
	return err
}

// checkName refuses what git fsck --strict refuses.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "\x00/") {
		return errName
	}
	// Of what Windows and macOS take for .git, too.
	folded := strings.ToLower(strings.TrimRight(strings.Map(dropIgnorable, name), ". "))
	if folded == ".git" || folded == "git~1" || strings.HasPrefix(folded, ".git:") || strings.Contains(name, `\`) {
		return errName
	}
	return nil
}

// dropIgnorable takes out the characters that HFS+ does not see.
func dropIgnorable(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// PathError is what is wrong with one path of an edit.
type PathError struct {
	Path string
	Err  error
}

func (e *PathError) Error() string { return "path " + quote(e.Path) + ": " + e.Err.Error() }
func (e *PathError) Unwrap() error { return e.Err }

func quote(s string) string { return `"` + s + `"` }
