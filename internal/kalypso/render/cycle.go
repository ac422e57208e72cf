package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// ErrTooManyPasses means that the result still contains templates after the last pass.
var ErrTooManyPasses = fmt.Errorf("the result still contains a template ({{) after %d more passes", maxPasses)

// passesError returns the error of a text that still contains templates after the last pass. It names the values that
// refer to each other, from the smallest key on, or else the value that the text still refers to.
func passesError(text string, values map[string]any) error {
	keys := references(text, values)
	visited := map[string]bool{}
	for _, key := range keys {
		circle := lists.Map(findCycle(key, values, nil, visited), strconv.Quote)
		switch {
		case len(circle) == 1:
			return fmt.Errorf("%w: the value %s refers to itself", ErrTooManyPasses, circle[0])
		case len(circle) > 1:
			return fmt.Errorf("%w: the value %s refers to itself through %s", ErrTooManyPasses, circle[0],
				strings.Join(circle[1:], ", "))
		}
	}
	if len(keys) == 0 {
		return ErrTooManyPasses
	}
	return fmt.Errorf("%w: values may refer to each other at most %d levels deep, and %q is deeper", ErrTooManyPasses,
		maxPasses, keys[0])
}

// findCycle returns the first cycle that the references of a value reach, or nil. path leads to the value.
func findCycle(key string, values map[string]any, path []string, visited map[string]bool) []string {
	if at := slices.Index(path, key); at >= 0 {
		circle := path[at:]
		first := slices.Index(circle, slices.Min(circle)) // so that the same cycle is always written in the same way
		return slices.Concat(circle[first:], circle[:first])
	}
	if visited[key] {
		return nil
	}
	visited[key] = true
	path = append(path, key)
	for _, next := range references(values[key], values) {
		if circle := findCycle(next, values, path, visited); circle != nil {
			return circle
		}
	}
	return nil
}

// references returns the sorted keys that the templates in a value refer to. It returns all keys if a template reads
// all values, such as with range.
func references(value any, values map[string]any) []string {
	var found []string
	switch value := value.(type) {
	case string:
		m, err := parseManifest(value)
		if err != nil {
			return nil // rendering reports the error
		}
		keys, reads := m.needs["ConfigData"]
		if reads && keys == nil {
			return slices.Sorted(maps.Keys(values))
		}
		found = slices.Collect(maps.Keys(keys))
	case []any:
		for _, element := range value {
			found = append(found, references(element, values)...)
		}
	case map[string]any:
		for _, element := range value {
			found = append(found, references(element, values)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
