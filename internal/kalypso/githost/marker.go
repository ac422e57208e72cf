package githost

import (
	"encoding/json"
	"slices"
	"strings"
)

// Marker returns a line for the description of a pull request that identifies the rendering. Find recognizes our pull
// requests by it, even if people change title and text. It is an invisible comment, and never occurs within another
// rendering's marker.
func Marker(environment, target, path string) string {
	return marker("rendering", environment, target, path)
}

// RemovalMarker returns the line that identifies the pull request which removes the rendering.
func RemovalMarker(environment, target, path string) string {
	return marker("removal", environment, target, path)
}

// FileMarker returns the line that identifies the pull request which changes one file of a branch.
func FileMarker(target, path string) string { return marker("file", "", target, path) }

func marker(kind, environment, target, path string) string {
	// Marshal escapes < and >, so that no name ends the comment.
	text, err := json.Marshal(markerFields{environment, target, path})
	if err != nil {
		panic(err) // strings always marshal
	}
	return markerStart(kind) + strings.ReplaceAll(string(text), "--", `-\u002d`) + " -->"
}

// markerFields are the fields of a marker.
type markerFields struct {
	Environment string `json:"environment"`
	Branch      string `json:"branch"`
	Path        string `json:"path"`
}

func markerStart(kind string) string { return "<!-- kalypso-" + kind + ": " }

// HasMarker reports whether a description contains the marker as a line of its own. It ignores a marker that is quoted.
func HasMarker(body, marker string) bool {
	return slices.ContainsFunc(strings.Split(body, "\n"), func(line string) bool {
		return strings.TrimRight(line, " \t\r") == marker
	})
}
