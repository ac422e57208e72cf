// Package sets takes lists of names as sets.
package sets

import "slices"

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
