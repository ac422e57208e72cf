// Package printable escapes untrusted text before a person reads it: control characters can move the cursor or clear
// the screen, and bidirectional or zero-width characters can disguise a line.
package printable

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text escapes every character of a multi-line text that is not shown as itself, as Go does, such as \x1b and \u202e.
// It keeps line breaks and tabs. Escaped text stays the same.
func Text(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

// Line escapes like [Text], and also escapes line breaks and tabs.
func Line(s string) string { return escape(s, "") }

// plainWord matches words that need no quotes in any shell. A leading dash would turn a word into an option, and a
// leading tilde into a home folder.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9/._][A-Za-z0-9/._:@%+,-]*$`)

// ShellWord quotes an untrusted text as one word of a command that a person may paste into a POSIX shell. It escapes
// like [Line] first, so that a command stays on one line.
func ShellWord(s string) string {
	s = Line(s)
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func escape(s, keep string) string {
	shown := func(r rune) bool { return unicode.IsGraphic(r) && r != utf8.RuneError || strings.ContainsRune(keep, r) }
	if strings.IndexFunc(s, func(r rune) bool { return !shown(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case shown(r) || r == utf8.RuneError && size > 1:
			b.WriteString(s[:size])
		default:
			quoted := strconv.QuoteToASCII(s[:size]) // invalid UTF-8 becomes \xff
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}
