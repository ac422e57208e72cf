package objects

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Parse returns the objects in a text, as the YAML parser finds them without the scanner, and whether a document is
// broken.
func Parse(text string) (lines []string, broken bool) {
	n := 1
	for _, o := range parse(nil, []byte(text), &n) {
		lines = append(lines, fmt.Sprintf("%d: %s %s %s/%s", o.Document, o.APIVersion, o.Kind, o.Namespace, o.Name))
	}
	for decoder := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var h header
		if err := decoder.Decode(&h); err != nil {
			return lines, err.Error() != "EOF"
		}
	}
}

// Shape returns the shape of a text.
func Shape(text []byte) uint64 { return new(shaper).shape(text) }

// Refusal returns why kustomize refuses a text. It checks the text itself, not only its shape.
func Refusal(text []byte) *Invalid { return check(text) }
