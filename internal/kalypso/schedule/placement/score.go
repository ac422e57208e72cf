package placement

// The best score of one preference; the worst is its negative.
const bestScore = 100

// score sets the scores of cluster types that fit, like the prioritizers of Open Cluster Management. Each preference
// gives a score from -100 to 100, which is multiplied by its weight.
func (c *chooser) score(fit []int32) {
	if c.scores == nil {
		c.scores = make([]int, len(c.pass.fleet.ClusterTypes))
	}
	for _, i := range fit {
		c.scores[i] = 0
	}
	for _, scoreOf := range c.preferences(fit) {
		for _, i := range fit {
			c.scores[i] += scoreOf(i)
		}
	}
}

// preferences returns the score of each preference times its weight, for cluster types that fit.
func (c *chooser) preferences(fit []int32) []func(int32) int {
	all := make([]func(int32) int, len(c.policy.Spec.Prefer))
	for n, p := range c.policy.Spec.Prefer {
		scoreOf := c.balance()
		if !p.Balance {
			scoreOf = c.property(p.Property, fit)
		}
		all[n] = func(i int32) int { return p.Weight * scoreOf(i) }
	}
	return all
}

// property scores a cluster type by where its value of a property lies between the least and the greatest value of all
// fitting cluster types. A cluster type without the property scores 0.
func (c *chooser) property(name string, fit []int32) func(int32) int {
	lowest, highest, found := 0.0, 0.0, false
	for _, i := range fit {
		v, ok := c.pass.properties[i][name]
		switch {
		case !ok:
		case !found:
			lowest, highest, found = v, v, true
		default:
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	return func(i int32) int {
		v, ok := c.pass.properties[i][name]
		switch {
		case !ok:
			return 0
		case highest-lowest == 0:
			return bestScore
		}
		ratio := (v - lowest) / (highest - lowest)
		return int((ratio - 0.5) * 2 * bestScore)
	}
}

// balance scores a cluster type by its number of deployment targets, relative to the maximum. The target itself does
// not count.
func (c *chooser) balance() func(int32) int {
	highest := 0
	for _, n := range c.pass.load {
		highest = max(highest, n)
	}
	return func(i int32) int {
		if c.pass.load == nil || c.pass.load[i] == 0 {
			return bestScore
		}
		usage := float64(c.pass.load[i]) / float64(highest)
		return 2 * int(bestScore*(0.5-usage))
	}
}
