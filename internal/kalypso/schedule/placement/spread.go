package placement

import (
	"context"
	"encoding/binary"
	"slices"
)

// domains counts, for each value of a label, the chosen cluster types among those that a policy selects.
type domains struct {
	spread Spread
	of     []int // cluster type → domain; -1: it has no such label
	count  []int // of the cluster types chosen, by domain
	// cost is, by domain, how much one more cluster type changes the skew, or the penalty if the skew then exceeds the
	// maximum.
	cost []int
	// with counts the domains that have a given count. least and most are the least and the greatest count.
	with        []int
	least, most int
}

func newDomains(s Spread, clusterTypes []ClusterType, selected []int32) *domains {
	if s.MaxSkew == 0 {
		s.MaxSkew = DefaultMaxSkew
	}
	d := &domains{spread: s, of: make([]int, len(clusterTypes))}
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
	d.count, d.cost = make([]int, len(numbers)), make([]int, len(numbers))
	return d
}

// start counts the cluster types that the target keeps.
func (d *domains) start(kept []int32) {
	clear(d.count)
	for _, i := range kept {
		if n := d.of[i]; n >= 0 {
			d.count[n]++
		}
	}
	d.summarize()
}

// summarize sets the fields that depend on the counts of all domains.
func (d *domains) summarize() {
	if len(d.count) == 0 {
		return
	}
	d.least, d.most = slices.Min(d.count), slices.Max(d.count)
	d.with = make([]int, d.most+1)
	for _, n := range d.count {
		d.with[n]++
	}
	for n := range d.cost {
		d.cost[n] = d.costOf(n)
	}
}

// add counts one more cluster type. It calls changed for each domain whose cost changes.
func (d *domains) add(i int32, changed func(domain, by int)) {
	from := d.of[i]
	if from < 0 {
		return
	}
	to := from + 1
	least, most, alone := d.least, d.most, d.with[d.least] == 1
	n := d.count[from]
	d.count[from]++
	if n == d.most {
		d.most++
		d.with = append(d.with, 0)
	}
	d.with[n]--
	d.with[n+1]++
	if d.with[d.least] == 0 {
		d.least++
	}
	if least != d.least || most != d.most || alone != (d.with[d.least] == 1) {
		from, to = 0, len(d.cost)
	}
	for domain := from; domain < to; domain++ {
		if cost := d.costOf(domain); cost != d.cost[domain] {
			changed(domain, cost-d.cost[domain])
			d.cost[domain] = cost
		}
	}
}

// skewChange returns the change of the skew if one more cluster type in a domain is chosen, and whether the skew then
// exceeds the maximum. The skew is the difference between the greatest and the least count. The rules are KubeFleet's.
func (d *domains) skewChange(domain int) (change int, violated bool) {
	switch n := d.count[domain]; {
	case d.least == d.most:
		change = 1
	case n == d.least && d.with[n] == 1:
		change = -1
	case n == d.most:
		change = 1
	}
	return change, d.most-d.least+change > d.spread.MaxSkew
}

// The costs of a cluster type that would exceed the maximum skew of a spread. The cost for a soft spread is greater
// than any change of the skew. The cost for a hard spread is greater than all other costs together, and rules the
// cluster type out.
const (
	softPenalty = 1000
	hardPenalty = 1 << 30
)

// costOf returns the cost of one more cluster type in a domain.
func (d *domains) costOf(domain int) int {
	change, violated := d.skewChange(domain)
	switch {
	case violated && d.spread.hard():
		return hardPenalty
	case violated:
		return softPenalty
	}
	return change
}

// beyond returns the hard spread that rules a cluster type out, if any.
func (c *chooser) beyond(i int32) *domains {
	for _, d := range c.spreads {
		if n := d.of[i]; n >= 0 && d.cost[n] == hardPenalty {
			return d
		}
	}
	return nil
}

// fillSpread adds cluster types one by one: the smallest change of the skew first, then the highest score, then the
// name. It stops once ctx is done.
func (d *choice) fillSpread(ctx context.Context, missing int) []int32 {
	for _, s := range d.chooser.spreads {
		s.start(d.kept)
	}
	chosen := slices.Clone(d.kept)
	c := d.candidates()
	for ; missing > 0 && ctx.Err() == nil; missing-- {
		next, ok := c.take()
		if !ok {
			break
		}
		chosen = append(chosen, next)
		for n, s := range d.chooser.spreads {
			s.add(next, func(domain, by int) { c.add(n, domain, by) })
		}
	}
	slices.Sort(chosen)
	return chosen
}

// candidates contains the cluster types that can be added. Cluster types in the same domains of all spreads form a
// group. They always have the same cost, so only the best one of each group is compared with other groups.
type candidates struct {
	ordered []int32 // best first
	groups  [][]int // positions in ordered
	// keys orders the groups. A key is the cost of the group's cluster types times the length of ordered, plus the group's
	// first position.
	keys []int64   // beyond 32 bits
	in   [][][]int // spread → domain → groups
}

// ruledOut is a cost that is reached only by empty groups and by groups that a hard spread rules out.
const ruledOut = hardPenalty / 2

func (d *choice) candidates() *candidates {
	c := &candidates{in: make([][][]int, len(d.chooser.spreads))}
	c.ordered = slices.DeleteFunc(slices.Clone(d.ordered()), func(i int32) bool { return contains(d.kept, i) })
	for n, s := range d.chooser.spreads {
		c.in[n] = make([][]int, len(s.cost))
	}
	index := map[string]int{}
	var domainsOf []byte
	for position, i := range c.ordered {
		domainsOf = domainsOf[:0]
		for _, s := range d.chooser.spreads {
			domainsOf = binary.AppendVarint(domainsOf, int64(s.of[i]))
		}
		g, ok := index[string(domainsOf)]
		if !ok {
			g = len(c.groups)
			index[string(domainsOf)] = g
			c.groups, c.keys = append(c.groups, nil), append(c.keys, int64(position))
			for n, s := range d.chooser.spreads {
				if domain := s.of[i]; domain >= 0 {
					c.in[n][domain] = append(c.in[n][domain], g)
					c.keys[g] += int64(s.cost[domain]) * int64(len(c.ordered))
				}
			}
		}
		c.groups[g] = append(c.groups[g], position)
	}
	return c
}

// add adds to the cost of the cluster types in a domain of a spread.
func (c *candidates) add(spread, domain, cost int) {
	for _, g := range c.in[spread][domain] {
		c.keys[g] += int64(cost) * int64(len(c.ordered))
	}
}

// take removes the best candidate and returns it. ok is false if hard spreads rule out all candidates.
func (c *candidates) take() (best int32, ok bool) {
	least := slices.Min(c.keys)
	if least >= ruledOut*int64(len(c.ordered)) {
		return 0, false
	}
	g := slices.Index(c.keys, least)
	position := c.groups[g][0]
	c.groups[g] = c.groups[g][1:]
	if len(c.groups[g]) == 0 {
		c.keys[g] += 2 * hardPenalty * int64(len(c.ordered))
	} else {
		c.keys[g] += int64(c.groups[g][0] - position)
	}
	return c.ordered[position], true
}
