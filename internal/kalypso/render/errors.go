package render

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// MissingValueError is the error of an action that prints a missing or null value, or hands it to a function that does
// not ask for it.
type MissingValueError struct {
	Action string // its source
	Value  string // the source of the value
	Name   string // the name of the value in the data, such as .Manifests.path
	Prints bool   // false: the action sets a variable, for example
}

// Error implements error.
func (e *MissingValueError) Error() string {
	verb, of := "prints", ""
	if !e.Prints {
		verb = "uses"
	}
	if e.Name != e.Action {
		of = ", " + e.Name
	}
	return fmt.Sprintf("{{ %s }} %s a missing or null value%s; set a value, or a default: {{ %s | default \"…\" }}",
		e.Action, verb, of, e.Value)
}

// LineError is an error at a line of a manifest.
type LineError struct {
	Line int // from 1
	Text string
	Err  error // may be nil
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

var (
	located   = regexp.MustCompile(`(?s)^template: ` + regexp.QuoteMeta(manifestName) + `[^:]*:(\d+)(?::\d+)?: (.*)$`)
	executing = regexp.MustCompile(`(?s)^executing "[^"]*" at (<.*?>): (.*)$`)
)

// templateTerms replaces Go's terms by those of template authors.
var templateTerms = strings.NewReplacer(
	" in type render.Data", ": templates have no such field",
	"unexpected EOF", "unexpected EOF: an {{ end }} is missing",
	"nil pointer evaluating interface {}", "a missing or null value has no field ",
)

// lineOf converts an error of text/template to a [LineError].
func lineOf(err error) error {
	match := located.FindStringSubmatch(err.Error())
	if match == nil {
		return err
	}
	line, atoiErr := strconv.Atoi(match[1])
	if atoiErr != nil {
		return err
	}
	text := strings.ReplaceAll(match[2], manifestName+":", "line ")
	if m := executing.FindStringSubmatch(text); m != nil {
		at := withoutOwnCalls(m[1])
		text = withoutOwnCalls(m[2])
		if !strings.Contains(at, ownPrefix) { // else our own action, which the user did not write
			text = at + ": " + text
		}
	}
	return &LineError{Line: line, Text: printable.Text(templateTerms.Replace(text)), Err: err}
}

// checkUTF8 returns an error if a result is not text. Terraform and YAML have only text in UTF-8.
func checkUTF8(result []byte) error {
	if utf8.Valid(result) {
		return nil
	}
	line := 1
	for text := range bytes.Lines(result) {
		if !utf8.Valid(text) {
			break
		}
		line++
	}
	return fmt.Errorf("line %d of the result is not valid UTF-8. Print bytes with b64enc, and text as it is", line)
}

var ownStage = regexp.MustCompile(` \| ` + ownPrefix + `\w+(?: "(?:[^"\\]|\\.)*"| \$\w+)*`)

// withoutOwnCalls returns the source of a node without the calls that [instrument] adds: a call of ours in parentheses
// becomes its last argument.
func withoutOwnCalls(source string) string {
	source = ownStage.ReplaceAllString(source, "")
	for {
		start := strings.LastIndex(source, "("+ownPrefix) // no call of ours is in it
		if start < 0 {
			return source
		}
		depth, last, end := 0, start, start
		var quote byte
		for ; end < len(source); end++ {
			switch c := source[end]; {
			case quote != 0:
				if c == '\\' && quote != '`' {
					end++
				} else if c == quote {
					quote = 0
				}
			case c == '"', c == '`', c == '\'':
				quote = c
			case c == '(':
				depth++
			case c == ')':
				depth--
			case c == ' ' && depth == 1:
				last = end
			}
			if depth == 0 {
				break
			}
		}
		if end >= len(source) {
			return source
		}
		source = source[:start] + source[last+1:end] + source[end+1:]
	}
}

// executionError returns err with its line. For errors of this package it removes the wording of text/template.
func executionError(err error) error {
	located := lineOf(err)
	var line *LineError
	if !errors.As(located, &line) {
		return located
	}
	var missing *MissingValueError
	var bound *BoundError
	switch {
	case errors.As(err, &missing):
		line.Text = missing.Error()
	case errors.As(err, &bound) && strings.Contains(line.Text, ownPrefix):
		line.Text = bound.Error()
	}
	const maxLength = 2000 // in bytes; errors of functions may contain values of any size
	if len(line.Text) > maxLength {
		line.Text = strings.ToValidUTF8(line.Text[:maxLength], "") + "…"
	}
	return line
}
