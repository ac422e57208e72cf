package configure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
)

// parseValue is the value of a config key: what is between single quotes, if blanks around them are passed over; else
// the map or list that the text is in YAML 1.1; else the text. As in the operator, all the quotes at both ends go.
func parseValue(text string) any {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "'") && strings.HasSuffix(t, "'") {
		return strings.Trim(t, "'")
	}
	if !strings.ContainsAny(text, ":-?[{") {
		return text // no YAML map or list does without one of these
	}
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

// stringKeys makes the keys of all maps in v strings. Of two keys that become one, the one of the type that sorts last
// stands.
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

// merge is what later makes of earlier: maps key by key, lists appended, a map element with a name merged into the
// first earlier element of that name; anything else is replaced. Neither argument is changed.
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
	var first map[string]int // element of a name
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

// nameOf is the name of a list's element, where it is a map that has one: a text that is the same where the names are.
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
