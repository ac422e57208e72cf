package secretscan

import "slices"

// Classes returns the kinds of secrets that [Find] recognizes, sorted, each once.
func Classes() (all []string) {
	for _, r := range anchors.rules {
		all = append(all, r.name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
