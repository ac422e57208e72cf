package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrTooManyPasses is a result that still holds templates after the last rendering. A [PassesError] says why.
var ErrTooManyPasses = fmt.Errorf("the result still holds a template ({{) after %d more renderings", maxPasses)

// PassesError is a result that still holds templates after the last rendering, because values refer to each other.
type PassesError struct {
	// Cycle are the keys of the values that refer to each other, each to the next one and the last to the first. It
	// begins with the smallest of them.
	Cycle []string
	// TooDeep is the key of a value that the result still refers to, where no value refers to itself.
	TooDeep string
}

func (e *PassesError) Error() string {
	if len(e.Cycle) == 0 {
		return fmt.Sprintf("%s: values may refer to each other %d deep, and %q is deeper", ErrTooManyPasses, maxPasses, e.TooDeep)
	}
	text := fmt.Sprintf("%s: the value %q refers to itself", ErrTooManyPasses, e.Cycle[0])
	before := " through "
	for _, key := range e.Cycle[1:] {
		text += before + fmt.Sprintf("%q", key)
		before = ", "
	}
	return text
}

// Unwrap makes it an ErrPasses.
func (e *PassesError) Unwrap() error { return ErrTooManyPasses }

// newPassesError is the error of a text that still holds templates after the last rendering.
func newPassesError(text string, values map[string]any) error {
	keys := references(text, values)
	visited := map[string]bool{}
	for _, key := range keys {
		if circle := findCycle(key, values, nil, visited); circle != nil {
			return &PassesError{Cycle: circle}
		}
	}
	if len(keys) == 0 {
		return ErrTooManyPasses
	}
	return &PassesError{TooDeep: keys[0]}
}

// findCycle is the first circle that the references of a value lead to; nil where they end. path leads to the value.
func findCycle(key string, values map[string]any, path []string, visited map[string]bool) []string {
	if at := slices.Index(path, key); at >= 0 {
		return rotateToSmallest(path[at:])
	}
	if visited[key] {
		return nil
	}
	visited[key] = true
	path = append(path, key)
	for _, next := range referencesOf(values[key], values) {
		if circle := findCycle(next, values, path, visited); circle != nil {
			return circle
		}
	}
	return nil
}

// rotateToSmallest is a circle that begins with its smallest key, so that it reads the same wherever it is entered.
func rotateToSmallest(circle []string) []string {
	at := slices.Index(circle, slices.Min(circle))
	return slices.Concat(circle[at:], circle[:at])
}

// referencesOf are the keys that the texts in a value refer to, sorted.
func referencesOf(value any, values map[string]any) []string {
	var found []string
	switch value := value.(type) {
	case string:
		found = references(value, values)
	case []any:
		for _, element := range value {
			found = append(found, referencesOf(element, values)...)
		}
	case map[string]any:
		for _, element := range value {
			found = append(found, referencesOf(element, values)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// references are the keys of values that a template's text refers to, sorted: of one that reads all values, all keys.
func references(text string, values map[string]any) []string {
	if !strings.Contains(text, "{{") {
		return nil
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil // its own error when it is rendered
	}
	keys, reads := m.needs["ConfigData"]
	if reads && keys == nil {
		return slices.Sorted(maps.Keys(values))
	}
	return slices.Sorted(maps.Keys(keys))
}
