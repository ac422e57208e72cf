// Package configure collects the platform configuration of assignments: which configs apply, what their values merge
// to, and whether the schemas that apply accept them.
package configure

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
)

// parseValue is the value of a config key: the string between single quotes; else the map or list that the text is in
// YAML 1.1; else the text.
func parseValue(text string) any {
	if t := strings.TrimSpace(text); len(t) >= 2 && t[0] == '\'' && t[len(t)-1] == '\'' {
		return t[1 : len(t)-1]
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
			m[keyText(k)] = stringKeys(v[k])
		}
		return m
	case []any:
		for i := range v {
			v[i] = stringKeys(v[i])
		}
	}
	return v
}

func keyText(k any) string {
	if k == nil {
		return "null"
	}
	return fmt.Sprint(k)
}

// merge is what later makes of earlier: maps key by key, lists appended, a map element with a name merged into the
// earlier element of that name; anything else is replaced. Neither argument is changed.
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
			merged := slices.Clone(e)
			for _, v := range l {
				if i := indexOfName(merged, v); i >= 0 {
					merged[i] = merge(merged[i], v)
				} else {
					merged = append(merged, v)
				}
			}
			return merged
		}
	}
	return later
}

// indexOfName is the index of the map in list whose name is that of v; -1 where v is no map or has no name.
func indexOfName(list []any, v any) int {
	m, ok := v.(map[string]any)
	if !ok || m["name"] == nil {
		return -1
	}
	return slices.IndexFunc(list, func(e any) bool {
		em, ok := e.(map[string]any)
		return ok && reflect.DeepEqual(em["name"], m["name"])
	})
}
