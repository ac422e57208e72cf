package objects

import "fmt"

// Parse returns the objects in a text without the scanner, one a line, and whether a document is broken.
func Parse(text string) (lines []string, broken bool) {
	n := 1
	for _, o := range parse(nil, []byte(text), &n) {
		broken = broken || o.Err != nil
		lines = append(lines, fmt.Sprintf("%d: %s %s %s/%s", o.Document, o.APIVersion, o.Kind, o.Namespace, o.Name))
	}
	return lines, broken
}
