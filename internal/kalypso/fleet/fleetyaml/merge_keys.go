package fleetyaml

import (
	"cmp"
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
	if err := cmp.Or(checkExpanded(text), checkEnd(text)); err != nil {
		return nil, err
	}
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil || !strings.Contains(text, mergeKey) {
		return data, err
	}
	var root yamlv3.Node
	if yamlv3.Unmarshal([]byte(text), &root) != nil || hasLargeMap(&root) {
		return nil, err
	}
	var checked any // finds duplicate keys and endless aliases
	if err := root.Decode(&checked); err != nil {
		return nil, err
	}
	resolveMerges(&root)
	resolved, failed := yamlv3.Marshal(&root)
	if failed != nil {
		return nil, err
	}
	return yaml.YAMLToJSONStrict(resolved)
}

// resolveMerges replaces merge keys by the keys they merge. An anchor precedes its aliases, so it is resolved first.
func resolveMerges(n *yamlv3.Node) {
	for _, child := range n.Content {
		resolveMerges(child)
	}
	if n.Kind != yamlv3.MappingNode {
		return
	}
	var own, merged []*yamlv3.Node
	for pair := range slices.Chunk(n.Content, 2) {
		if pair[0].Value == mergeKey && pair[0].Style == 0 {
			merged = append(merged, pair[1])
		} else {
			own = append(own, pair...)
		}
	}
	for _, source := range merged {
		own = mergeFrom(own, source)
	}
	n.Content = own
}

// mergeFrom adds the keys of source, a map or a list of maps, that own does not have.
func mergeFrom(own []*yamlv3.Node, source *yamlv3.Node) []*yamlv3.Node {
	switch source.Kind {
	case yamlv3.AliasNode:
		return mergeFrom(own, source.Alias)
	case yamlv3.SequenceNode:
		for _, one := range source.Content {
			own = mergeFrom(own, one)
		}
	case yamlv3.MappingNode:
		for pair := range slices.Chunk(source.Content, 2) {
			if !hasKey(own, pair[0].Value) {
				own = append(own, pair...)
			}
		}
	}
	return own
}

func hasKey(pairs []*yamlv3.Node, key string) bool {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[0].Value == key {
			return true
		}
	}
	return false
}
