package fleet

import (
	"fmt"
	"regexp"

	yamlv3 "go.yaml.in/yaml/v3"
)

const (
	// maxExpanded is how many bytes a document with aliases may take once they are written out.
	maxExpanded = 16 << 20
	// maxMergedKeys is how many keys a map may have in a document whose merge keys are resolved.
	maxMergedKeys = 5000
)

// anchors and aliases find what may make more of a document than its text.
var (
	anchors = regexp.MustCompile(`(?m)(^|[\s,\[{:-])&[\w-]`)
	aliases = regexp.MustCompile(`(?m)(^|[\s,\[{:-])\*[\w-]`)
)

// checkExpanded reports a document that takes much more than its text once its aliases are written out, before they are.
func checkExpanded(text string) error {
	if !aliases.MatchString(text) || !anchors.MatchString(text) {
		return nil
	}
	var root yamlv3.Node
	if err := yamlv3.Unmarshal([]byte(text), &root); err != nil {
		return err
	}
	if expanded(&root, map[*yamlv3.Node]int64{}) > maxExpanded {
		return fmt.Errorf("it takes more than %s with its aliases written out", FormatBytes(maxExpanded))
	}
	return nil
}

// expanded is how many bytes a node takes with aliases written out, or more than maxExpanded. What holds itself is counted once: to
// read it says what is wrong.
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

// hasLargeMap reports whether a map of the document has too many keys for its merge keys to be resolved.
func hasLargeMap(n *yamlv3.Node) bool {
	if n.Kind == yamlv3.MappingNode && len(n.Content) > 2*maxMergedKeys {
		return true
	}
	for _, child := range n.Content {
		if hasLargeMap(child) {
			return true
		}
	}
	return false
}
