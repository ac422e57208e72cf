package render

import (
	"fmt"
	"maps"
	"slices"
)

// ErrTooManyPasses means that the result still contains templates after the last pass. A [PassesError] explains why.
var ErrTooManyPasses = fmt.Errorf("the result still contains a template ({{) after %d more passes", maxPasses)

// PassesError means that the result still contains templates after the last pass, because values refer to each other.
type PassesError struct {
	// Cycle lists the keys of values that refer to each other. Each value refers to the next, and the last to the first.
	// The smallest key comes first.
	Cycle []string
	// TooDeep is the key of a value that the result still refers to, if there is no cycle.
	TooDeep string
}

func (e *PassesError) Error() string {
	if len(e.Cycle) == 0 {
		return fmt.Sprintf("%s: values may refer to each other at most %d levels deep, and %q is deeper",
			ErrTooManyPasses, maxPasses, e.TooDeep)
	}
	text := fmt.Sprintf("%s: the value %q refers to itself", ErrTooManyPasses, e.Cycle[0])
	before := " through "
	for _, key := range e.Cycle[1:] {
		text += before + fmt.Sprintf("%q", key)
		before = ", "
	}
	return text
}

// Unwrap returns [ErrTooManyPasses].
func (e *PassesError) Unwrap() error { return ErrTooManyPasses }

// newPassesError returns the error of a text that still contains templates after the last pass.
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

// findCycle returns the first cycle that the references of a value reach, or nil. path leads to the value.
func findCycle(key string, values map[string]any, path []string, visited map[string]bool) []string {
	if at := slices.Index(path, key); at >= 0 {
		return rotateToSmallest(path[at:])
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

// rotateToSmallest rotates a cycle so that it begins with its smallest key. So the same cycle is always written in the
// same way.
func rotateToSmallest(circle []string) []string {
	at := slices.Index(circle, slices.Min(circle))
	return slices.Concat(circle[at:], circle[:at])
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
