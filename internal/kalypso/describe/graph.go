package describe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// graph draws which policies place what is added or changed, and on which
// cluster types. What is removed no policy places any more.
func (w *writer) graph(all []clusterType) {
	type edge struct{ policy, clusterType string }
	targets := map[edge]int{}
	if w.Policies == nil || w.edges == 0 {
		return
	}
	for _, ct := range all {
		for _, t := range slices.Concat(ct.added, ct.changed) {
			for _, p := range w.Policies(ct.name, t) {
				targets[edge{p, ct.name}]++
			}
		}
	}
	if len(targets) == 0 || len(targets) > w.edges {
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

// mermaid is a text in quotes of a graph, by character codes where one could
// mean something else.
func mermaid(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || strings.ContainsRune("\"#<>&`;\\", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
