package gitbranch

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
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

// treeOf returns the tree of an entry, or zero if the entry is no folder.
func treeOf(e entry) plumbing.Hash {
	if e.IsTree() {
		return e.Hash
	}
	return plumbing.ZeroHash
}

// splitPath splits a path relative to the repository root into names. "." is the root and has none.
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

// CheckPath returns an error for a path that a tree cannot contain, or that git fsck --strict rejects.
func CheckPath(path string) error {
	_, err := splitPath(path)
	return err
}

// The longest name and the longest path that people can check out. File systems allow names of 255 bytes. Linux allows
// paths of 4,095 bytes: the rest is for the files below the path, and for the folder of the clone.
const (
	maxName = 255
	maxPath = 3 << 10
)

// CheckFolder returns an error for the path of a folder that some machines can't check out. Unlike [CheckPath], it is
// for paths that people choose, since a branch may contain other ones.
func CheckFolder(path string) error {
	if len(path) > maxPath {
		return fmt.Errorf("the path has %d bytes, which is too long to check out; at most %d are allowed", len(path), maxPath)
	}
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
			return fmt.Errorf("%q contains a control character", name)
		case len(name) > maxName:
			return fmt.Errorf("%q has %d bytes, and file systems allow at most %d", name, len(name), maxName)
		}
	}
	return nil
}

// checkName rejects the names that git fsck --strict rejects, also if macOS ignored some of their characters. It
// rejects a backslash, which separates names on Windows.
func checkName(name string) error {
	if strings.Contains(name, `\`) {
		return gitobject.ErrName
	}
	return cmp.Or(gitobject.CheckName(name), gitobject.CheckName(gitobject.DropIgnorable(name)))
}

// PathError is an error with one path of an edit.
type PathError struct {
	Path string
	Err  error
}

func (e *PathError) Error() string { return "path " + quote(e.Path) + ": " + e.Err.Error() }
func (e *PathError) Unwrap() error { return e.Err }

func quote(s string) string { return `"` + s + `"` }
