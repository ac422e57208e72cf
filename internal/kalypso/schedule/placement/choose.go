package placement

import (
	"cmp"
	"context"
	"slices"
)

// chooser chooses cluster types for the deployment targets of one policy.
type chooser struct {
	pass   *pass
	policy *Policy
	// selected lists the cluster types that the selector and the names allow. fit lists the selected cluster types without
	// an effective taint. onlyEarlier lists the selected cluster types that fit only for targets that are already there.
	selected, fit, onlyEarlier []int32
	spreads                    []*domains
	// order is fit sorted by score. It is used only if the score does not depend on the deployment target, and is nil
	// until it is computed.
	order  []int32
	scores []int // by cluster type, from the last call of score
}

func (p *pass) newChooser(policy *Policy) *chooser {
	c := &chooser{pass: p, policy: policy}
	for _, i := range policy.ClusterTypes {
		if policy.Spec.Allows(p.fleet.ClusterTypes[i].Name) {
			c.selected = append(c.selected, int32(i)) //nolint:gosec // there are no 2^31 cluster types
		}
	}
	if policy.Spec != nil {
		for _, s := range policy.Spec.Spread {
			c.spreads = append(c.spreads, newDomains(s, p.fleet.ClusterTypes, c.selected))
		}
	}
	for _, i := range c.selected {
		switch asNew, asHeld := c.fits(i); {
		case asNew:
			c.fit = append(c.fit, i)
		case asHeld:
			c.onlyEarlier = append(c.onlyEarlier, i)
		}
	}
	return c
}

// fits reports whether a cluster type fits for a new deployment target (asNew), and for a target that is already there
// (asHeld).
func (c *chooser) fits(i int32) (asNew, asHeld bool) {
	if slices.ContainsFunc(c.spreads, func(d *domains) bool { return d.spread.hard() && d.of[i] < 0 }) {
		return false, false
	}
	asNew, asHeld = true, true
	for _, taint := range c.pass.fleet.ClusterTypes[i].Taints {
		if c.policy.Spec.Tolerates(taint) {
			continue
		}
		asNew = false
		asHeld = asHeld && taint.Effect == NoSelectIfNew
	}
	return asNew, asHeld
}

// choice is the decision on one deployment target: the cluster types that fit, and which of them the target keeps, up
// to the policy's number.
type choice struct {
	chooser   *chooser
	target    int
	fit, kept []int32
}

// choose returns the cluster types for a deployment target, ascending. prior lists the cluster types that have the
// target. The result is incomplete if ctx is done.
func (c *chooser) choose(ctx context.Context, target int, prior []int32) []int32 {
	d := &choice{c, target, c.fit, nil}
	if extra := intersection(prior, c.onlyEarlier); len(extra) > 0 {
		d.fit = slices.Concat(c.fit, extra)
		slices.Sort(d.fit)
	}
	chosen := d.fit
	if c.policy.Spec.Decides() {
		chosen = d.keepAndFill(ctx, intersection(prior, d.fit))
	}
	if c.pass.trace != nil {
		c.pass.trace(d, chosen)
	}
	return chosen
}

// keepAndFill keeps earlier cluster types that still fit, and adds others until the number is reached. It never moves a
// target from a cluster type that fits to one with a better score.
func (d *choice) keepAndFill(ctx context.Context, kept []int32) []int32 {
	number := d.chooser.policy.Spec.number()
	if len(kept) > number {
		d.chooser.score(d.fit)
		slices.SortFunc(kept, d.chooser.better)
		kept = kept[:number]
		slices.Sort(kept)
	}
	d.kept = kept
	switch missing := number - len(kept); {
	case missing == 0 || len(kept) == len(d.fit):
		return kept
	case len(d.chooser.spreads) > 0:
		return d.fillSpread(ctx, missing)
	case missing >= len(d.fit)-len(kept):
		return d.fit
	default:
		return d.fillBest(missing)
	}
}

// fillBest adds the missing cluster types: the highest score first, then by name.
func (d *choice) fillBest(missing int) []int32 {
	chosen := make([]int32, 0, len(d.kept)+missing)
	chosen = append(chosen, d.kept...)
	for _, i := range d.ordered() {
		if missing > 0 && !contains(d.kept, i) {
			chosen = append(chosen, i)
			missing--
		}
	}
	slices.Sort(chosen)
	return chosen
}

// ordered returns the cluster types that fit, best first.
func (d *choice) ordered() []int32 {
	shared := d.chooser.pass.load == nil && len(d.fit) == len(d.chooser.fit)
	if shared && d.chooser.order != nil {
		return d.chooser.order
	}
	order := slices.Clone(d.fit)
	d.chooser.score(d.fit)
	slices.SortFunc(order, d.chooser.better)
	if shared {
		d.chooser.order = order
	}
	return order
}

// better compares by score, highest first, then by name.
func (c *chooser) better(a, b int32) int {
	return cmp.Or(cmp.Compare(c.scores[b], c.scores[a]), cmp.Compare(a, b))
}

// contains reports whether an ascending list contains i.
func contains(list []int32, i int32) bool {
	_, found := slices.BinarySearch(list, i)
	return found
}

// intersection returns the elements that are in both ascending lists, as a new list.
func intersection(a, b []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(a), func(i int32) bool { return !contains(b, i) })
}
