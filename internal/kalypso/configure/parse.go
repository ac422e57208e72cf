package configure

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// parseValue parses the value of a config key. A text in single quotes, ignoring surrounding space, becomes the string
// without them. As in the operator, all quotes at both ends are removed. A text that as a whole is a map or list in
// YAML 1.1 becomes that map or list. Any other text stays a string.
func parseValue(text string) any {
	if t := strings.TrimSpace(text); len(t) > 1 && strings.HasPrefix(t, "'") && strings.HasSuffix(t, "'") {
		return strings.Trim(t, "'")
	}
	if !strings.ContainsAny(text, ":-?[{") || isPlainLine(text) {
		return text // every YAML map or list contains one of these
	}
	if v, ok := parseStructure(text); ok {
		return v
	}
	return text
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
