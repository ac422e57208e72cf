// Package lists makes lists of lists.
package lists

import "iter"

// Map returns the results of f for all elements of a list, in their order. It is not nil.
func Map[From, To any](all []From, f func(From) To) []To {
	made := make([]To, len(all))
	for i, one := range all {
		made[i] = f(one)
	}
	return made
}

// Pairs yields the elements of two lists that are sorted by name, by name. If only one list has the name, the other
// element is nil.
func Pairs[T any](a, b []T, name func(*T) string) iter.Seq2[*T, *T] {
	return func(yield func(a, b *T) bool) {
		for i, j := 0, 0; i < len(a) || j < len(b); {
			var left, right *T
			if j == len(b) || i < len(a) && name(&a[i]) <= name(&b[j]) {
				left = &a[i]
			}
			if i == len(a) || j < len(b) && name(&b[j]) <= name(&a[i]) {
				right = &b[j]
			}
			if left != nil {
				i++
			}
			if right != nil {
				j++
			}
			if !yield(left, right) {
				return
			}
		}
	}
}

// Runs yields the longest parts of a list whose elements have the same key.
func Runs[T any, K comparable](all []T, key func(T) K) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && key(all[to]) == key(all[from]) {
				to++
			}
			if !yield(all[from:to:to]) {
				return
			}
			from = to
		}
	}
}
