package gitobject

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The modes of tree entries, as Git writes them.
const (
	ModeTree   = "40000"
	ModeFile   = "100644"
	ModeLink   = "120000"
	ModeModule = "160000"
)

// Entry is one line of a tree. H is [Hash], or another package's type for it. The mode keeps its exact bytes, so that
// an unchanged tree stays the same.
type Entry[H ~[Size]byte] struct {
	Mode string
	Name string
	Hash H
}

// IsTree reports whether the entry is a folder.
func (e Entry[H]) IsTree() bool { return e.Mode == ModeTree || e.Mode == "040000" }

// ErrBadTree means that the bytes of a tree cannot be parsed, or that Git refuses the name of an entry.
var ErrBadTree = errors.New("a tree of the branch is corrupt")

// MaxEntries is the largest number of entries of a tree that is parsed. The whole Linux kernel has about 100,000 files.
const MaxEntries = 1_000_000

// ErrTooManyEntries means that a tree has more entries than [MaxEntries].
var ErrTooManyEntries = fmt.Errorf("a tree has more than %d entries", MaxEntries)

// ParseTree parses the bytes of a tree. The error is [ErrBadTree] or [ErrTooManyEntries]. If only names are the reason
// of the error, see [CheckName], ParseTree returns the entries too: a caller that looks up valid names, or that writes
// all entries back, may use them.
func ParseTree[H ~[Size]byte](raw []byte) ([]Entry[H], error) {
	entries := make([]Entry[H], 0, min(len(raw)/32, MaxEntries))
	for len(raw) > 0 {
		mode, name, hash, rest, err := CutEntry[H](raw)
		if err != nil {
			return nil, err
		}
		if len(entries) == MaxEntries {
			return nil, ErrTooManyEntries
		}
		entries = append(entries, Entry[H]{modeText(mode), string(name), hash})
		raw = rest
	}
	return entries, checkEntries(entries)
}

// modeText returns a mode as a string, without allocating for the usual ones.
func modeText(mode []byte) string {
	switch string(mode) {
	case ModeTree:
		return ModeTree
	case ModeFile:
		return ModeFile
	}
	return string(mode)
}

// CutEntry cuts the first entry off the bytes of a tree without allocating. The error is [ErrBadTree].
func CutEntry[H ~[Size]byte](raw []byte) (mode, name []byte, hash H, rest []byte, err error) {
	mode, rest, spaced := bytes.Cut(raw, []byte{' '})
	name, rest, ended := bytes.Cut(rest, []byte{0})
	if !spaced || !ended || len(rest) < Size {
		return nil, nil, hash, nil, ErrBadTree
	}
	return mode, name, H(rest[:Size]), rest[Size:], nil
}

// AppendTree appends the bytes of a tree. The entries must be in Git's order.
func AppendTree[H ~[Size]byte](raw []byte, entries []Entry[H]) []byte {
	size := 0
	for i := range entries {
		size += len(entries[i].Mode) + len(entries[i].Name) + Size + 2
	}
	raw = slices.Grow(raw, size)
	for i := range entries {
		e := &entries[i]
		raw = append(append(raw, e.Mode...), ' ')
		raw = append(append(raw, e.Name...), 0)
		raw = append(raw, e.Hash[:]...)
	}
	return raw
}

// SortTree sorts entries in Git's order: by name, with a slash appended to folder names. This is the byte order of
// the paths below them.
func SortTree[H ~[Size]byte](entries []Entry[H]) {
	slices.SortFunc(entries, func(a, b Entry[H]) int {
		common := min(len(a.Name), len(b.Name))
		if order := strings.Compare(a.Name[:common], b.Name[:common]); order != 0 {
			return order
		}
		return strings.Compare(a.sortedAfter(common), b.sortedAfter(common))
	})
}

// sortedAfter returns the part of the entry's sort name after the first n bytes. Names contain no slash. So if one name
// is longer, a byte before the folder's trailing slash decides.
func (e Entry[H]) sortedAfter(n int) string {
	if n == len(e.Name) && e.IsTree() {
		return "/"
	}
	return e.Name[n:]
}
