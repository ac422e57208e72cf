package render

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlCache writes maps as YAML from their entries, and keeps the text of each entry: writing YAML takes longer than
// all else in a template, and assignments have most of their values in common. If all 10,000 assignments of large-10k
// have a value of their own, rendering takes 2.0 s of CPU without the cache (5,000 assignments per second; the bound is
// 15,000), and about a quarter with it.
type yamlCache struct {
	executor *executor
	write    func(any) (string, error) // toYAML or stringify
	entries  map[yamlEntry]string
	orders   map[string][]string // keys in the order in which the YAML library writes them, by the sorted keys
	size     int                 // bytes of all texts
}

// yamlEntry is an entry of a map. The same text, map or list is the same value.
type yamlEntry struct {
	key   string
	value any
}

const (
	// maxCachedEntries limits the entries of a map that is printed entry by entry.
	maxCachedEntries = 1000
	// maxCachedBytes limits the size of a cache. A larger cache begins anew.
	maxCachedBytes = 1 << 20
)

// marshal returns what c.write returns. It must not use the cache in a template that may change maps.
func (c *yamlCache) marshal(v any) (string, error) {
	data, ok := v.(map[string]any)
	if !ok || len(data) == 0 || len(data) > maxCachedEntries || c.executor.mutates {
		return c.write(v)
	}
	if c.entries == nil || c.size > maxCachedBytes {
		c.entries, c.orders, c.size = map[yamlEntry]string{}, map[string][]string{}, 0
	}
	keys, err := c.inOrder(data)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		if texts[i], err = c.entry(key, data[key]); err != nil {
			return "", err
		}
	}
	return strings.Join(texts, "\n"), nil
}

// entry returns the text of an entry.
func (c *yamlCache) entry(key string, value any) (string, error) {
	e := yamlEntry{key: key}
	switch v := value.(type) {
	case string:
		e.value = v
	case map[string]any:
		e.value = reflect.ValueOf(v).UnsafePointer() // keeps the map, so that no other map gets the address
	case []any:
		if len(v) > 0 {
			e.value = [2]any{&v[0], len(v)}
		}
	}
	if text, ok := c.entries[e]; ok {
		return text, nil
	}
	text, err := c.write(map[string]any{key: value})
	if err == nil && e.value != nil {
		c.entries[e] = text
		c.size += len(key) + len(text)
	}
	return text, err
}

// inOrder returns the keys of a map in the order in which the YAML library writes them. The library compares numbers
// in keys by their values, for example.
func (c *yamlCache) inOrder(data map[string]any) ([]string, error) {
	sorted := slices.Sorted(maps.Keys(data))
	var all []byte
	for _, key := range sorted {
		all = strconv.AppendQuote(all, key)
	}
	if keys, ok := c.orders[string(all)]; ok {
		return keys, nil
	}
	numbers := make(map[string]int, len(sorted))
	for i, key := range sorted {
		numbers[key] = i
	}
	var node yaml.Node // of keys and values, in turn
	if err := node.Encode(numbers); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(sorted))
	for pair := range slices.Chunk(node.Content, 2) {
		n, err := strconv.Atoi(pair[1].Value)
		if err != nil {
			return nil, err
		}
		keys = append(keys, sorted[n])
	}
	c.orders[string(all)] = keys
	c.size += len(all)
	return keys, nil
}
