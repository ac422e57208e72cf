package gitops

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Modes as Git writes them into a tree.
const (
	modeTree   = "40000"
	modeFile   = "100644"
	modeModule = "160000"
)

// entry is one line of a tree. Its mode is kept as it was written, so that a
// tree in which nothing changed stays the same to the byte.
type entry struct {
	mode string
	name string
	hash plumbing.Hash
}

func (e entry) isTree() bool { return e.mode == modeTree || e.mode == "040000" }

func (e entry) public() object.TreeEntry {
	mode, err := filemode.New(e.mode)
	if err != nil {
		mode = filemode.Empty
	}
	return object.TreeEntry{Name: e.name, Mode: mode, Hash: e.hash}
}

var errBadTree = errors.New("a tree of the branch is broken")

// parseTree reads the bytes of a tree.
func parseTree(raw []byte) ([]entry, error) {
	entries := make([]entry, 0, len(raw)/32)
	for len(raw) > 0 {
		mode, name, hash, rest, err := cutEntry(raw)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{string(mode), string(name), hash})
		raw = rest
	}
	return entries, nil
}

// cutEntry cuts the first line off the bytes of a tree.
func cutEntry(raw []byte) (mode, name []byte, hash plumbing.Hash, rest []byte, err error) {
	mode, rest, spaced := bytes.Cut(raw, []byte{' '})
	name, rest, ended := bytes.Cut(rest, []byte{0})
	if !spaced || !ended || len(rest) < len(hash) {
		return nil, nil, hash, nil, errBadTree
	}
	return mode, name, hash, rest[copy(hash[:], rest):], nil
}

// appendTree writes entries, which are in Git's order, as the bytes of a tree.
func appendTree(raw []byte, entries []entry) []byte {
	for _, e := range entries {
		raw = append(raw, e.mode...)
		raw = append(raw, ' ')
		raw = append(raw, e.name...)
		raw = append(raw, 0)
		raw = append(raw, e.hash[:]...)
	}
	return raw
}

// sortTree puts entries in Git's order: by name, a folder's name taken with a
// slash at its end. That is the byte order of the paths below them.
func sortTree(entries []entry) {
	key := func(e entry) string {
		if e.isTree() {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(key(a), key(b)) })
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
