package describe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// edge is a policy that assigns targets to a cluster type.
type edge struct{ policy, clusterType string }

// policyTargets counts the added and changed targets by the policy and cluster type that they belong to. Removed
// targets have no policy.
func (c *Change) policyTargets() map[edge]int {
	targets := map[edge]int{}
	if c.Policies == nil {
		return targets
	}
	for _, ct := range c.ClusterTypes {
		for _, t := range slices.Concat(ct.Added, ct.Changed) {
			for _, p := range c.Policies(ct.Name, t) {
				targets[edge{p, ct.Name}]++
			}
		}
	}
	return targets
}

// graph draws the policies, the cluster types and the number of targets they assign. If there are too many edges, it
// writes a list.
func (w *writer) graph(targets map[edge]int) {
	switch {
	case len(targets) == 0:
		return
	case len(targets) > w.edges:
		w.placements(targets)
		return
	}
	edges := slices.SortedFunc(maps.Keys(targets), func(a, b edge) int {
		return strings.Compare(a.policy+"\x00"+a.clusterType, b.policy+"\x00"+b.clusterType)
	})
	w.line("\n### Placement\n\n```mermaid\nflowchart LR")
	policies, clusterTypes := map[string]string{}, map[string]string{}
	node := func(ids map[string]string, letter, name, open, shut string) string {
		if id, ok := ids[name]; ok {
			return id
		}
		ids[name] = fmt.Sprint(letter, len(ids))
		return ids[name] + open + `"` + mermaid(name) + `"` + shut
	}
	for _, e := range edges {
		from := node(policies, "p", e.policy, "([", "])")
		to := node(clusterTypes, "c", e.clusterType, "[", "]")
		w.line(`  %s -->|"%s"| %s`, from, count(targets[e], "target"), to)
	}
	w.line("```")
}

func (w *writer) placements(targets map[edge]int) {
	type sum struct{ clusterTypes, targets int }
	sums := map[string]sum{}
	for e, n := range targets {
		s := sums[e.policy]
		sums[e.policy] = sum{s.clusterTypes + 1, s.targets + n}
	}
	w.heading("Placement")
	policies := slices.Sorted(maps.Keys(sums))
	for _, p := range first(policies, w.rows) {
		w.line("- %s places %s on %s", code(p), count(sums[p].targets, "target"), count(sums[p].clusterTypes, "cluster type"))
	}
	w.more(len(policies), "policy")
}

// mermaid escapes a quoted text of a Mermaid graph.
func mermaid(s string) string {
	var b strings.Builder
	for _, r := range printable.Line(s) {
		if strings.ContainsRune("\"#<>&`;\\", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
