package configure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
)

// parseValue parses the value of a config key. A text in single quotes, ignoring surrounding space, becomes the string
// without them. As in the operator, all quotes at both ends are removed. A text that is a map or list in YAML 1.1
// becomes that map or list. Any other text stays a string.
func parseValue(text string) any {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "'") && strings.HasSuffix(t, "'") {
		return strings.Trim(t, "'")
	}
	if !strings.ContainsAny(text, ":-?[{") || isPlainLine(text) {
		return text // every YAML map or list contains one of these
	}
	return parseYAML(text)
}

// isPlainLine reports whether a text is one line that begins with a letter and has no colon that ends a key, such as a
// URL. Such a line is a string in YAML, or invalid.
func isPlainLine(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~':
			return false
		case i == 0 && (c|0x20 < 'a' || c|0x20 > 'z'):
			return false
		case c == ':' && (i+1 == len(text) || text[i+1] == ' '):
			return false
		}
	}
	return text != ""
}

// parseYAML parses a map or a list in YAML 1.1. It returns any other text unchanged.
func parseYAML(text string) any {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	switch v.(type) {
	case map[any]any, []any:
		return stringKeys(v)
	}
	return text
}

// stringKeys converts the keys of all maps in v to strings. If two keys become equal, such as 1 and "1", the key whose
// type name sorts last wins.
func stringKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		keys := slices.SortedFunc(maps.Keys(v), func(a, b any) int {
			return cmp.Compare(fmt.Sprintf("%T", a), fmt.Sprintf("%T", b))
		})
		m := make(map[string]any, len(v))
		for _, k := range keys {
			m[keyString(k)] = stringKeys(v[k])
		}
		return m
	case []any:
		for i := range v {
			v[i] = stringKeys(v[i])
		}
	}
	return v
}

func keyString(k any) string {
	if k == nil {
		return "null"
	}
	return fmt.Sprint(k)
}

// merge merges later onto earlier without changing either. It merges maps key by key and appends lists. A list element
// that is a map with a name is merged into the first earlier element with this name. Any other value replaces the
// earlier value.
func merge(earlier, later any) any {
	switch l := later.(type) {
	case map[string]any:
		if e, ok := earlier.(map[string]any); ok {
			merged := maps.Clone(e)
			for k, v := range l {
				if old, ok := merged[k]; ok {
					v = merge(old, v)
				}
				merged[k] = v
			}
			return merged
		}
	case []any:
		if e, ok := earlier.([]any); ok {
			return mergeLists(e, l)
		}
	}
	return later
}

func mergeLists(earlier, later []any) []any {
	merged := slices.Clone(earlier)
	var first map[string]int // the first element of each name
	for _, v := range later {
		name, named := nameOf(v)
		if !named {
			merged = append(merged, v)
			continue
		}
		if first == nil {
			first = map[string]int{}
			for i := len(merged) - 1; i >= 0; i-- {
				if name, named := nameOf(merged[i]); named {
					first[name] = i
				}
			}
		}
		if at, ok := first[name]; ok {
			merged[at] = merge(merged[at], v)
		} else {
			first[name] = len(merged)
			merged = append(merged, v)
		}
	}
	return merged
}

// nameOf returns the name of a list element that is a map with a name. Equal names give equal strings.
func nameOf(v any) (name string, ok bool) {
	m, _ := v.(map[string]any)
	switch name := m["name"].(type) {
	case nil:
		return "", false
	case string:
		return name, true
	default:
		return fmt.Sprintf("\x00%#v", name), true
	}
}
