package hosting

import (
	"encoding/json"
	"slices"
	"strings"
)

// Marker is a line of a pull request's description that names the rendering,
// for Find: by it one is known as ours, whatever people do with title and text.
// It is a comment, so that nobody sees it, and holds no other rendering's
// marker: a path of one may begin another's.
func Marker(environment, target, path string) string {
	// Marshal writes < and > as escapes, so that no name ends the comment.
	text, err := json.Marshal(struct {
		Environment string `json:"environment"`
		Branch      string `json:"branch"`
		Path        string `json:"path"`
	}{environment, target, path})
	if err != nil {
		panic(err) // strings always marshal
	}
	return "<!-- kalypso-rendering: " + strings.ReplaceAll(string(text), "--", `-\u002d`) + " -->"
}

// HasMarker reports whether a description has the marker as a line of its own:
// a quotation of it is none.
func HasMarker(body, marker string) bool {
	return slices.ContainsFunc(strings.Split(body, "\n"), func(line string) bool {
		return strings.TrimRight(line, " \t\r") == marker
	})
}
