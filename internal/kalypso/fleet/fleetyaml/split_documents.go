package fleetyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/yamlend"
)

// document is a document of a YAML text.
type document struct {
	text  string
	line  int  // the first line, from 1
	stray bool // it follows an object in JSON without a separator, and is no object in JSON
}

// splitDocuments splits at lines that begin with "---", as Kubernetes does, and at lines that end a document ("...").
// It skips empty documents, byte order marks and YAML directives. As for kubectl, objects in JSON need no separators.
func splitDocuments(text string) []document {
	var docs []document
	var b strings.Builder
	first, empty := 1, true
	flush := func(next int) {
		if !empty {
			docs = append(docs, splitJSON(document{text: b.String(), line: first})...)
		}
		b.Reset()
		first, empty = next, true
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimPrefix(line, "\ufeff")
		switch rest, marker := cutMarker(line); {
		case marker == "---":
			flush(n)
			line = "   " + rest
		case marker == "...":
			flush(n + 1)
			continue
		case empty && strings.HasPrefix(line, "%"):
			line = "\n"
		}
		if t := strings.TrimSpace(line); t != "" && !strings.HasPrefix(t, "#") {
			empty = false
		}
		b.WriteString(line)
	}
	flush(n)
	return docs
}

// splitJSON returns the objects in JSON at the start of a document, and then what follows the last one, if it is more
// than comments. If the document does not start with such an object, splitJSON returns it as it is.
func splitJSON(d document) (all []document) {
	text, line := d.text, d.line
	for {
		blank := len(text) - len(skipComments(text))
		line += strings.Count(text[:blank], "\n")
		text = text[blank:]
		if text == "" {
			break
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		if text[0] != '{' || decoder.Decode(new(json.RawMessage)) != nil {
			all = append(all, document{text: text, line: line, stray: true})
			break
		}
		end := int(decoder.InputOffset())
		all = append(all, document{text: text[:end], line: line})
		line += strings.Count(text[:end], "\n")
		text = text[end:]
	}
	if len(all) == 1 || all[0].stray {
		return []document{d}
	}
	return all
}

// skipComments returns a text without the blank lines and comments at its start.
func skipComments(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if !strings.HasPrefix(text, "#") {
			return text
		}
		_, text, _ = strings.Cut(text, "\n")
	}
}

// checkEnd returns an error if something follows the first document of a text, which the parser would ignore.
func checkEnd(text string) error {
	if isPlainMap(text) {
		return nil
	}
	if line := yamlend.LineAfterFirst(text); line > 0 {
		return fmt.Errorf("line %d: %w", line, errAfterEnd)
	}
	return nil
}

// errAfterEnd means that something follows the first document of a text.
var errAfterEnd = errors.New("this text follows the end of the first object")

// isPlainMap reports whether a text begins with a plain key in its first column and has no markers of documents. Such a
// map ends with the text.
func isPlainMap(text string) bool {
	for line := range strings.Lines(text) {
		if _, marker := cutMarker(line); marker != "" {
			return false
		}
	}
	for line := range strings.Lines(text) {
		switch c := line[0]; {
		case c == '#', strings.TrimSpace(line) == "":
		default:
			return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		}
	}
	return true
}

// cutMarker cuts a leading document marker, --- or ..., off a line.
func cutMarker(line string) (rest, marker string) {
	if len(line) < 3 || line[:3] != "---" && line[:3] != "..." {
		return line, ""
	}
	rest = line[3:]
	if rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n") {
		return line, ""
	}
	return rest, line[:3]
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// shiftLine converts the line numbers of a YAML error to those of the whole text. first is the document's first line.
func shiftLine(message string, first int) string {
	for _, words := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:\n  "} {
		message = strings.TrimPrefix(message, words)
	}
	return yamlLine.ReplaceAllStringFunc(message, func(s string) string {
		n, err := strconv.Atoi(s[len("line "):])
		if err != nil {
			return s
		}
		return "line " + strconv.Itoa(n+first-1)
	})
}
