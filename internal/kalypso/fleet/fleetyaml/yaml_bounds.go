package fleetyaml

import (
	"fmt"
	"regexp"
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

const (
	// maxExpanded limits the bytes of a document once its aliases are expanded.
	maxExpanded = 16 << 20
	// maxMergedKeys limits the keys of a map in a document with merge keys.
	maxMergedKeys = 5000
)

// anchors and aliases match the syntax that may expand a document.
var (
	anchors = regexp.MustCompile(`(?m)(^|[\s,\[{:-])&[\w-]`)
	aliases = regexp.MustCompile(`(?m)(^|[\s,\[{:-])\*[\w-]`)
)

// checkExpanded returns an error if a document would be too large once its aliases are expanded. It does not expand
// them.
func checkExpanded(text string) error {
	if !aliases.MatchString(text) || !anchors.MatchString(text) {
		return nil
	}
	var root yamlv3.Node
	if err := yamlv3.Unmarshal([]byte(text), &root); err != nil {
		return err
	}
	if expanded(&root, map[*yamlv3.Node]int64{}) > maxExpanded {
		return fmt.Errorf("it takes more than %s with its aliases expanded", fleet.FormatBytes(maxExpanded))
	}
	return nil
}

// expanded returns the bytes of a node with its aliases expanded, or more than maxExpanded. It counts a node within
// itself once; decoding reports the cycle.
func expanded(n *yamlv3.Node, known map[*yamlv3.Node]int64) int64 {
	if n.Kind == yamlv3.AliasNode {
		return expanded(n.Alias, known)
	}
	if size, ok := known[n]; ok {
		return size
	}
	known[n] = 0
	size := int64(len(n.Value)) + 2
	for _, child := range n.Content {
		size = min(size+expanded(child, known), maxExpanded+1)
	}
	known[n] = size
	return size
}

// hasLargeMap reports whether a map of the document has too many keys to resolve merge keys.
func hasLargeMap(n *yamlv3.Node) bool {
	return n.Kind == yamlv3.MappingNode && len(n.Content) > 2*maxMergedKeys || slices.ContainsFunc(n.Content, hasLargeMap)
}
