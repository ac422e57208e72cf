// Package sets treats lists of names, and the keys of maps, as sets.
package sets

import (
	"iter"
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

// MapValues returns the results of f for all values of a map, by the same keys. It is not nil.
func MapValues[K comparable, From, To any](all map[K]From, f func(From) To) map[K]To {
	made := make(map[K]To, len(all))
	for key, value := range all {
		made[key] = f(value)
	}
	return made
}

// Keys yields the keys of both maps, each once, in no order.
func Keys[K comparable, V any](a, b map[K]V) iter.Seq[K] {
	return func(yield func(K) bool) {
		for key := range a {
			if !yield(key) {
				return
			}
		}
		for key := range b {
			if _, twice := a[key]; !twice && !yield(key) {
				return
			}
		}
	}
}
