package placement

import (
	"cmp"
	"slices"
)

// domains counts, for each value of a label, the chosen cluster types among those that a policy selects.
type domains struct {
	Spread
	of    []int // cluster type → domain; -1: it has no such label
	count []int // of the cluster types chosen, by domain
}

func newDomains(s Spread, clusterTypes []ClusterType, selected []int32) *domains {
	if s.MaxSkew == 0 {
		s.MaxSkew = DefaultMaxSkew
	}
	d := &domains{Spread: s, of: make([]int, len(clusterTypes))}
	for i := range d.of {
		d.of[i] = -1
	}
	numbers := map[string]int{}
	for _, i := range selected {
		value, ok := clusterTypes[i].Labels[s.Key]
		if !ok {
			continue
		}
		n, ok := numbers[value]
		if !ok {
			n = len(numbers)
			numbers[value] = n
		}
		d.of[i] = n
	}
	d.count = make([]int, len(numbers))
	return d
}

// start counts the cluster types that are kept.
func (d *domains) start(kept []int32) {
	clear(d.count)
	for _, i := range kept {
		d.add(i)
	}
}

func (d *domains) add(i int32) {
	if n := d.of[i]; n >= 0 {
		d.count[n]++
	}
}

// skewChange returns the change of the skew if one more cluster type in a domain is chosen, and whether the skew then
// exceeds the maximum. The skew is the difference between the greatest and the least count. The rules are KubeFleet's.
func (d *domains) skewChange(domain int) (change int, violated bool) {
	least, most, leastTwice := d.count[0], d.count[0], false
	for _, n := range d.count[1:] {
		leastTwice = n == least || (leastTwice && n > least)
		least, most = min(least, n), max(most, n)
	}
	switch n := d.count[domain]; {
	case least == most:
		change = 1
	case n == least && !leastTwice:
		change = -1
	case n == most:
		change = 1
	}
	return change, most-least+change > d.MaxSkew
}

// violationPenalty is the penalty of a cluster type that exceeds the maximum skew of a soft spread. It exceeds any
// change of the skew.
const violationPenalty = 1000

// skewOf returns the change of the skew by a cluster type over all spreads, and the hard spread that rules it out, if
// any.
func (c *chooser) skewOf(i int32) (change int, beyond *domains) {
	for _, d := range c.spreads {
		if d.of[i] < 0 { // the spread ignores it
			continue
		}
		skew, violated := d.skewChange(d.of[i])
		switch {
		case violated && d.hard():
			return 0, d
		case violated:
			change += violationPenalty
		default:
			change += skew
		}
	}
	return change, nil
}

// fillSpread adds cluster types one by one: the smallest change of the skew first, then the highest score, then the
// name.
func (d *choice) fillSpread(missing int) []int32 {
	for _, s := range d.spreads {
		s.start(d.kept)
	}
	chosen := slices.Clone(d.kept)
	candidates := slices.DeleteFunc(slices.Clone(d.ordered()), func(i int32) bool { return slices.Contains(d.kept, i) })
	for ; missing > 0; missing-- {
		best, least := -1, 0
		for n, i := range candidates {
			change, beyond := d.skewOf(i)
			if beyond == nil && (best < 0 || cmp.Less(change, least)) {
				best, least = n, change
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, candidates[best])
		for _, s := range d.spreads {
			s.add(candidates[best])
		}
		candidates = slices.Delete(candidates, best, best+1)
	}
	slices.Sort(chosen)
	return chosen
}
