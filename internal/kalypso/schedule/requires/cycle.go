package requires

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// cycle lists deployment targets that require each other, directly or through other targets, on some cluster types.
type cycle struct {
	targets    []int32 // all of them
	path       []int32 // the shortest cycle through the first
	placements []int
}

// findCycles finds the cycles on each cluster type.
func (x *Index) findCycles() {
	found := map[string]*cycle{}
	for i := range x.placements {
		present := x.placements[i].present
		for _, all := range x.graph.components(func(t int32) bool {
			return int(t) < x.graph.scheduled && present.contains(t)
		}) {
			for _, t := range all {
				x.refuse(i, t)
			}
			c := &cycle{targets: all, path: x.graph.shortestCycle(all)}
			key := fmt.Sprint(c.targets, c.path)
			if found[key] == nil {
				found[key] = c
				x.cycles = append(x.cycles, c)
			}
			found[key].placements = append(found[key].placements, i)
		}
	}
	slices.SortStableFunc(x.cycles, func(a, b *cycle) int { return slices.Compare(a.targets, b.targets) })
}

// components returns the groups of targets that require each other, by Tarjan's algorithm. The nodes of its graph are
// the targets that are there and the requirements, since many targets may have the same requirement. A target may reach
// itself through a requirement that it satisfies itself. That is not a cycle, but two targets in one component are
// always on a cycle.
func (g *graph) components(there func(int32) bool) [][]int32 {
	f := &componentFinder{graph: g, exists: there, order: make([]int32, len(g.targets)+len(g.requirements)),
		low: make([]int32, len(g.targets)+len(g.requirements))}
	for t := range g.scheduled {
		if n := int32(t); f.order[n] == 0 && len(g.of[n]) > 0 && there(n) { //nolint:gosec // bounded by the fleet's size
			f.visit(n)
		}
	}
	return f.found
}

type componentFinder struct {
	graph  *graph
	exists func(int32) bool
	order  []int32 // the order in which the nodes were visited, from 1; done for finished nodes
	low    []int32
	next   int32
	stack  []int32
	found  [][]int32
}

const done = -1

func (f *componentFinder) visit(node int32) {
	f.next++
	f.order[node], f.low[node] = f.next, f.next
	f.stack = append(f.stack, node)
	targets := int32(len(f.graph.targets)) //nolint:gosec // bounded by the size of the fleet
	if node < targets {
		for _, r := range f.graph.of[node] {
			f.follow(node, targets+r)
		}
	} else {
		for _, t := range f.graph.requirements[node-targets].sure {
			if f.exists(t) {
				f.follow(node, t)
			}
		}
	}
	if f.low[node] != f.order[node] {
		return
	}
	var all []int32
	for last := int32(done); last != node; {
		last, f.stack = f.stack[len(f.stack)-1], f.stack[:len(f.stack)-1]
		f.order[last] = done
		if last < targets {
			all = append(all, last)
		}
	}
	if len(all) > 1 {
		slices.Sort(all)
		f.found = append(f.found, all)
	}
}

func (f *componentFinder) follow(from, to int32) {
	switch f.order[to] {
	case done:
	case 0:
		f.visit(to)
		f.low[from] = min(f.low[from], f.low[to])
	default:
		f.low[from] = min(f.low[from], f.order[to])
	}
}

// shortestCycle returns the shortest cycle through the first of the targets of a component. The path begins and ends
// with this target.
func (g *graph) shortestCycle(all []int32) []int32 {
	first := all[0]
	within := newSet(len(g.targets))
	for _, t := range all {
		within.add(t)
	}
	from, seen := map[int32]int32{}, map[int32]bool{}
	for queue := []int32{first}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, r := range g.of[at] {
			if seen[r] {
				continue
			}
			seen[r] = at != first // the first target does not count as requiring itself
			for _, t := range g.requirements[r].sure {
				if _, reached := from[t]; t == at || reached || !within.contains(t) {
					continue
				}
				from[t] = at
				if t != first {
					queue = append(queue, t)
					continue
				}
				path := []int32{first}
				for at := from[first]; at != first; at = from[at] {
					path = append(path, at)
				}
				path = append(path, first)
				slices.Reverse(path)
				return path
			}
		}
	}
	return nil // a component has a cycle through each of its targets
}

// text shows the cycle as a → b → a.
func (c *cycle) text(targets []*fleet.DeploymentTarget) string {
	names := lists.Map(c.path, func(t int32) string { return targets[t].Name })
	const limit = problem.MaxListed
	if more := len(names) - limit; more > 0 {
		names = append(append(names[:limit-1:limit-1], fmt.Sprintf("(%d more)", more)), names[len(names)-1])
	}
	return strings.Join(names, " → ")
}
