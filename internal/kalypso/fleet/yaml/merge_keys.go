package yaml

import (
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// mergeKey merges other maps into a map: <<: *anchor. The map's own keys take precedence.
const mergeKey = "<<"

// yamlToJSON converts a document. A duplicate key is an error, but a key that overrides a merged key is not.
// sigs.k8s.io/yaml does not distinguish the two.
func yamlToJSON(text string) ([]byte, error) {
	if err := checkExpanded(text); err != nil {
		return nil, err
	}
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil || !strings.Contains(text, mergeKey) {
		return data, err
	}
	var root yamlv3.Node
	if yamlv3.Unmarshal([]byte(text), &root) != nil || !mergeFirst(&root) {
		return nil, err
	}
	var checked any // finds duplicate keys and endless aliases
	if err := root.Decode(&checked); err != nil {
		return nil, err
	}
	ordered, failed := yamlv3.Marshal(&root)
	if failed != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(ordered)
}

// mergeFirst moves the merge keys of each map before its own keys. The parser of sigs.k8s.io/yaml lets the later key
// take precedence. It returns false if a map has too many keys to find duplicate ones.
func mergeFirst(n *yamlv3.Node) (ok bool) {
	for _, child := range n.Content {
		if !mergeFirst(child) {
			return false
		}
	}
	if n.Kind != yamlv3.MappingNode {
		return true
	}
	var own, merged []*yamlv3.Node
	for pair := range slices.Chunk(n.Content, 2) {
		if pair[0].Value == mergeKey && pair[0].Style == 0 {
			merged = append(merged, pair...)
		} else {
			own = append(own, pair...)
		}
	}
	n.Content = append(merged, own...)
	return len(n.Content) <= 2*maxMergedKeys
}
