package describe

import (
	"maps"
	"slices"
)

// placement is a policy that assigns targets to a cluster type.
type placement struct{ policy, clusterType string }

// policyTargets counts the added and changed targets by the policy and cluster type that they belong to. Removed
// targets have no policy.
func (c *RenderingChange) policyTargets() map[placement]int {
	targets := map[placement]int{}
	if c.Policies == nil {
		return targets
	}
	for _, ct := range c.ClusterTypes {
		for _, t := range slices.Concat(ct.Added, ct.Changed) {
			for _, p := range c.Policies(ct.Name, t) {
				targets[placement{p, ct.Name}]++
			}
		}
	}
	return targets
}

// placements lists the policies, with the number of targets that each assigns to each cluster type.
func (w *writer) placements(targets map[placement]int) {
	if len(targets) == 0 {
		return
	}
	type sum struct {
		clusterTypes []string
		targets      int
	}
	sums := map[string]sum{}
	for p, n := range targets {
		s := sums[p.policy]
		sums[p.policy] = sum{append(s.clusterTypes, p.clusterType), s.targets + n}
	}
	w.heading("Placement")
	policies := slices.Sorted(maps.Keys(sums))
	for _, p := range first(policies, w.rows) {
		on := count(len(sums[p].clusterTypes), "cluster type")
		if len(sums[p].clusterTypes) <= w.names {
			on = w.list(slices.Sorted(slices.Values(sums[p].clusterTypes)))
		}
		w.line("- %s places %s on %s", code(p), count(sums[p].targets, "target"), on)
	}
	w.more(len(policies), "policy")
}
