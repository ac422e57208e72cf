package yaml

import (
	"regexp"
	"strconv"
	"strings"
)

// document is a document of a YAML text.
type document struct {
	text string
	line int // the first line, from 1
}

// splitDocuments splits at lines that begin with "---", as Kubernetes does, and at lines that end a document ("...").
// It skips empty documents, byte order marks and YAML directives.
func splitDocuments(text string) []document {
	var docs []document
	var b strings.Builder
	first, empty := 1, true
	flush := func(next int) {
		if !empty {
			docs = append(docs, document{b.String(), first})
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
