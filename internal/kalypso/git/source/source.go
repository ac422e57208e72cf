// Package source reads Kalypso objects from Git repos and folders. It follows a control plane to its base, and its
// registrations to their Workloads.
//
// A [Reader] serves one run. It looks up each branch once and fetches each commit once.
package source

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
)

// cleanPath returns the path of a folder relative to the repo's root, "." for the root. p may begin with "./" or "/".
func cleanPath(p string) (string, error) {
	clean := path.Clean(strings.TrimLeft(p, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(clean, "\\\x00") {
		return "", fmt.Errorf("the path %q points outside the repo; write it relative to the repo's root, with forward "+
			"slashes", p)
	}
	if err := gitbranch.CheckFolder(clean); err != nil {
		return "", fmt.Errorf("%w; name another folder", err)
	}
	return clean, nil
}

// CheckPath returns an error if a path can't be the folder of a [Location].
func CheckPath(p string) error {
	_, err := cleanPath(p)
	return err
}

// sortedKeys returns the sorted keys of a map.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
