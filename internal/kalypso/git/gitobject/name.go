package gitobject

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrName means that Git refuses a name in a tree: git fsck reports it, and git checkout does not write it.
var ErrName = errors.New("not a valid name in a Git tree")

// CheckName returns [ErrName] if Git refuses the name of a tree entry: an empty name, ".", "..", a name with a slash
// or NUL, and each name that a file system treats as .git. The rules are those of git fsck.
func CheckName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "\x00/") || isDotGit(name) {
		return ErrName
	}
	return nil
}

// checkEntries returns [ErrBadTree] for a name that Git refuses, and for a name that occurs twice.
func checkEntries[H ~[Size]byte](entries []Entry[H]) error {
	sorted := true // then no name occurs twice
	for i, e := range entries {
		if CheckName(e.Name) != nil || e.Mode == ModeLink && isDotGitmodules(e.Name) {
			return fmt.Errorf("%w: Git refuses the name %s of an entry", ErrBadTree, quoteName(e.Name))
		}
		sorted = sorted && (i == 0 || entries[i-1].Name < e.Name)
	}
	if sorted {
		return nil
	}
	met := make(map[string]struct{}, len(entries))
	for _, e := range entries {
		if _, twice := met[e.Name]; twice {
			return fmt.Errorf("%w: it has two entries with the name %s", ErrBadTree, quoteName(e.Name))
		}
		met[e.Name] = struct{}{}
	}
	return nil
}

// quoteName quotes a name for a message. A name can have as many bytes as a tree.
func quoteName(name string) string {
	const maxLength = 100
	if len(name) > maxLength {
		return strconv.Quote(name[:maxLength]) + "…"
	}
	return strconv.Quote(name)
}

// isDotGit reports whether a file system of Windows or macOS treats the name as .git. On Windows, a backslash separates
// names.
func isDotGit(name string) bool {
	if c := name[0]; c != '.' && c != 'g' && c != 'G' && c < utf8.RuneSelf && !strings.Contains(name, `\`) {
		return false // most names
	}
	if isHFS(name, "git") {
		return true
	}
	for part := range strings.SplitSeq(name, `\`) {
		if hasPrefixFold(part, ".git") && isNTFSEnd(part[4:]) || hasPrefixFold(part, "git~1") && isNTFSEnd(part[5:]) {
			return true
		}
	}
	return false
}

// isDotGitmodules reports whether a file system treats the name as .gitmodules. Windows also has short names of files,
// such as GITMOD~1, and GI7EBA~1 if the first four are taken.
func isDotGitmodules(name string) bool {
	if isHFS(name, "gitmodules") {
		return true
	}
	const long, short = ".gitmodules", "gitmod~"
	for part, more := name, true; more; _, part, more = strings.Cut(part, `\`) {
		switch {
		case hasPrefixFold(part, long) && isNTFSEnd(part[len(long):]):
			return true
		case hasPrefixFold(part, short) && len(part) > len(short):
			if n := part[len(short)]; n >= '1' && n <= '4' && isNTFSEnd(part[len(short)+1:]) {
				return true
			}
		}
		if isHashedShortName(part) {
			return true
		}
	}
	return false
}

// isHashedShortName reports whether a name is a short name of .gitmodules on Windows: up to six characters of a prefix
// that has a part of its hash, then a tilde and digits, eight characters together.
func isHashedShortName(name string) bool {
	const prefix, length = "gi7eba", 8
	tilde := strings.IndexByte(name, '~')
	if len(name) < length || tilde < 0 || tilde > len(prefix) || !hasPrefixFold(name, prefix[:tilde]) {
		return false
	}
	for i, c := range []byte(name[tilde+1 : length]) {
		if c < '0' || c > '9' || i == 0 && c == '0' {
			return false
		}
	}
	return isNTFSEnd(name[length:])
}

// isNTFSEnd reports whether Windows ignores the end of a name: dots and spaces, and the name of a stream.
func isNTFSEnd(end string) bool {
	end = strings.TrimLeft(end, ". ")
	return end == "" || end[0] == ':'
}

// isHFS reports whether macOS treats the name as a dot and a word of ASCII letters: it ignores case and some
// characters. Git reads invalid UTF-8 as the end of the name.
func isHFS(name, word string) bool {
	var rest []rune
	for len(name) > 0 && len(rest) <= len(word)+1 {
		r, size := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && size == 1 || r == 0xfffe || r == 0xffff {
			break
		}
		name = name[size:]
		if !isIgnorable(r) {
			rest = append(rest, r)
		}
	}
	text := string(rest)
	return strings.HasPrefix(text, ".") && isASCII(text) && strings.EqualFold(text[1:], word)
}

// isIgnorable reports whether macOS ignores a character in a name.
func isIgnorable(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}

// DropIgnorable returns the name without the characters that macOS ignores.
func DropIgnorable(name string) string {
	return strings.Map(func(r rune) rune {
		if isIgnorable(r) {
			return -1
		}
		return r
	}, name)
}

// hasPrefixFold reports whether a text begins with an ASCII prefix in lower case, in any case.
func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && isASCII(text[:len(prefix)]) && strings.EqualFold(text[:len(prefix)], prefix)
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
