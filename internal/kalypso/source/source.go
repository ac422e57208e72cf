// Package source reads Kalypso objects from where teams keep them: Git repos and folders. It follows a control plane to
// its base and to the Workload documents behind its registrations.
//
// A [Reader] serves one run. It looks up each branch once and fetches each commit once, whoever asks for it.
package source

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// cleanPath is the path of a folder from a repo's root, "." for the root. Whoever writes it may begin it with "./" or "/".
func cleanPath(p string) (string, error) {
	clean := path.Clean(strings.TrimLeft(p, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(clean, "\\\x00") {
		return "", fmt.Errorf("the path %q leads out of the repo; write it from the repo's root, with forward slashes", p)
	}
	return clean, nil
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
