package describe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// placed counts the added and changed targets that each policy assigns, by cluster type. Removed targets have no
// policy.
func (c *RenderingChange) placed() map[string]map[string]int {
	placed := map[string]map[string]int{}
	if c.Policies == nil {
		return placed
	}
	for _, ct := range c.ClusterTypes {
		for _, t := range slices.Concat(ct.Added, ct.Changed) {
			for _, p := range c.Policies(ct.Name, t) {
				if placed[p] == nil {
					placed[p] = map[string]int{}
				}
				placed[p][ct.Name]++
			}
		}
	}
	return placed
}

// placements lists the policies, with the number of targets that each assigns.
func (w *writer) placements(placed map[string]map[string]int) {
	rows(w, "Placement", "policy", slices.Sorted(maps.Keys(placed)), func(policy string) string {
		targets := 0
		for _, n := range placed[policy] {
			targets += n
		}
		on := problem.Count(len(placed[policy]), "cluster type")
		if len(placed[policy]) <= w.names {
			on = w.list(slices.Sorted(maps.Keys(placed[policy])))
		}
		return fmt.Sprintf("%s places %s on %s", code(policy), problem.Count(targets, "target"), on)
	})
}
