// Package printable escapes what a text that others wrote could do to the one
// who reads it: control characters move a terminal's cursor or clear its
// screen, and characters for bidirectional text, or of no width, have a line
// read as another one.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a text of several lines with every character that is not shown as
// itself escaped as Go escapes it, such as \x1b and \u202e. Line breaks and
// tabs stay. A text that was escaped stays as it is.
func Text(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

// Line is [Text] for a text that belongs on one line: line breaks and tabs are
// escaped too.
func Line(s string) string { return escape(s, "") }

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
			quoted := strconv.QuoteToASCII(s[:size]) // a byte that is no UTF-8 as \xff
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}
