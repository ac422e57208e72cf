package objects

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Broken reports whether a document of a text is broken.
func Broken(text string) bool {
	for decoder := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var h header
		if err := decoder.Decode(&h); err != nil {
			return err.Error() != "EOF"
		}
	}
}

// Shape returns the shape of a text.
func Shape(text []byte) uint64 { return new(shaper).shape(text) }

// Refusal returns why kustomize refuses a text. It checks the text itself, not only its shape.
func Refusal(text []byte) *Invalid { return check(text) }
