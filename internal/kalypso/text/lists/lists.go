// Package lists makes lists of lists.
package lists

// Map returns the results of f for all elements of a list, in their order. It is not nil.
func Map[From, To any](all []From, f func(From) To) []To {
	made := make([]To, len(all))
	for i, one := range all {
		made[i] = f(one)
	}
	return made
}
