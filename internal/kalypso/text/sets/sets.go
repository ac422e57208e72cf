// Package sets treats lists of names as sets.
package sets

import (
	"slices"
	"strings"
)

// Without returns the names that are not among others, in their order.
func Without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// Union returns the names of both lists, sorted, each once.
func Union(a, b []string) []string {
	both := slices.Concat(a, b)
	slices.Sort(both)
	return slices.Compact(both)
}

// WithoutFold returns the names that are not among others, ignoring case, in their order.
func WithoutFold(names, others []string) (left []string) {
	for _, name := range names {
		if !slices.ContainsFunc(others, func(other string) bool { return strings.EqualFold(name, other) }) {
			left = append(left, name)
		}
	}
	return left
}
