package problem

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Sentence returns the text of an error as a printable sentence for a [Problem]'s Detail. It capitalizes the first
// word and ends with one full stop or question mark.
func Sentence(err error) string {
	text := strings.TrimRight(printable.Text(err.Error()), ".\n")
	if first, size := utf8.DecodeRuneInString(text); unicode.IsLower(first) {
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// EndSentence returns a text that a person wrote as one line that ends like a sentence, so that our own sentence can
// follow.
func EndSentence(text string) string {
	text = printable.Line(strings.TrimSpace(text))
	if end, _ := utf8.DecodeLastRuneInString(text); text == "" || strings.ContainsRune(".!?…", end) {
		return text
	}
	return text + "."
}

// MaxListed limits the lines of most lists in texts.
const MaxListed = 20

// IndentedList formats lines for a [Problem]'s Detail, indented and printable. It shows at most limit lines, and
// counts the rest.
func IndentedList(lines []string, limit int) string {
	listed := lists.Map(lines[:min(len(lines), limit)], printable.Line)
	if more := len(lines) - limit; more > 0 {
		listed = append(listed, fmt.Sprintf("and %d more", more))
	}
	return "  " + strings.Join(listed, "\n  ")
}

// Count returns a number with its noun: 1 assignment, 2 assignments, 2 policies, 2 keys.
func Count(n int, noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
	case y && !strings.ContainsAny(stem[len(stem)-1:], "aeou"):
		noun = stem + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// OneOrMany returns the text for one, or the text for another number, in which %d is the number: 1 target moves, 2
// targets move.
func OneOrMany(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return strings.ReplaceAll(many, "%d", strconv.Itoa(n))
}

// First returns the first names of a list, and the number of further names.
func First(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}
