// Package yamlend finds text after the first document of a YAML text, which parsers ignore.
package yamlend

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LineAfterFirst returns the line of the text that follows the first document, or 0 if only comments and empty
// documents follow it. If the first document is broken, the parser reports that, and LineAfterFirst returns 0.
func LineAfterFirst(text string) int {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	if decoder.Decode(new(yaml.Node)) != nil {
		return 0
	}
	for {
		var next yaml.Node
		switch err := decoder.Decode(&next); {
		case errors.Is(err, io.EOF):
			return 0
		case err != nil:
			return max(lineOf(err.Error()), 1)
		case next.Content[0].Tag != "!!null" || next.Content[0].Value != "":
			return next.Content[0].Line
		}
	}
}

var lineNumber = regexp.MustCompile(`line (\d+): `)

// lineOf returns the line of an error of the parser, or 0 for the first line.
func lineOf(message string) (line int) {
	if at := lineNumber.FindStringSubmatch(message); at != nil {
		line, _ = strconv.Atoi(at[1])
	}
	if strings.HasSuffix(message, "did not find expected <document start>") {
		line++ // the parser names the line before
	}
	return line
}
