package requires

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// The limits of texts.
const (
	mostClusterTypes = 5 // in a line
	mostExplained    = 1000
)

// reasons explains why requirements are not met.
type reasons struct {
	index       *Index
	explanation *explain.Explanation // explains the schedule for the targets of the first gaps
	about       map[string]bool
}

// reasons returns the reasons for the gaps. For the first gaps, the reasons name the nearest policy.
func (x *Index) reasons(ctx context.Context, all []gap) *reasons {
	r := &reasons{index: x, about: map[string]bool{}}
	for _, g := range all {
		if t, ok := r.candidate(g.target, g.k, g.placements[0]); ok && len(r.about) < mostExplained {
			r.about[x.graph.targets[t].Name] = true
		}
	}
	r.explanation = explain.About(ctx, x.fleet, x.schedule, slices.Sorted(maps.Keys(r.about))...)
	return r
}

// problem returns a fault of the first target's team, which affects the targets in the gaps.
func (r *reasons) problem(all []gap, summary, detail string) problem.Problem {
	first := r.index.graph.targets[all[0].target]
	p := problem.Problem{
		Fault: problem.TeamFault, Path: r.index.fleet.TargetPath(first, "requires"),
		Summary: summary, Detail: detail, Cause: detail,
	}
	for _, g := range all {
		for _, i := range g.placements {
			p.Affects = append(p.Affects, problem.AffectedTarget{
				ClusterType: r.index.clusterType(i), Name: r.index.graph.targets[g.target].Name,
			})
		}
	}
	return fleet.ProblemOf(first.Workload, p)
}

func (r *reasons) cycleProblem(c *cycle) problem.Problem {
	all := lists.Map(c.targets, func(t int32) gap { return gap{target: t, placements: c.placements} })
	return r.problem(all, "Deployment targets require each other", fmt.Sprintf(
		"On %s:\n%s\nEach of them waits for the others, so none becomes ready. Remove one of these requirements.",
		r.clusterTypes(c.placements), problem.IndentedList([]string{c.text(r.index.graph.targets)}, 1)))
}

func (r *reasons) tooManyProblem(all []gap) problem.Problem {
	lines := lists.Map(all, func(g gap) string {
		return r.index.graph.targets[g.target].Name + " on " + r.clusterTypes(g.placements)
	})
	return r.problem(all, "Too many required deployment targets", fmt.Sprintf("More than %d deployment targets "+
		"satisfy what these require:\n%s\nRequire fewer, or labels that fewer targets have.",
		mostBeside, problem.IndentedList(lines, problem.MaxListed)))
}

func (r *reasons) clusterTypes(placements []int) string {
	return problem.First(lists.Map(placements, r.index.clusterType), mostClusterTypes)
}

// text lists the gaps, each with the reason on its first cluster type.
func (r *reasons) text(all []gap) string {
	lines := make([]string, len(all))
	for n, g := range all[:min(len(all), problem.MaxListed)] {
		target := r.index.graph.targets[g.target]
		at := ""
		if len(g.placements) > 1 {
			at = "on " + r.index.clusterType(g.placements[0]) + ", "
		}
		lines[n] = fmt.Sprintf("%s on %s requires %s: %s%s", target.Name, r.clusterTypes(g.placements),
			target.Requires[g.k], at, r.unmet(g.target, g.k, g.placements[0]))
	}
	return fmt.Sprintf("%s not met in environment %q:\n%s",
		problem.OneOrMany(len(all), "1 requirement is", "%d requirements are"), r.index.fleet.Environment,
		problem.IndentedList(lines, problem.MaxListed))
}

// candidate returns a target of the same workspace that could satisfy a requirement. It prefers a target on the cluster
// type.
func (r *reasons) candidate(target int32, k, i int) (t int32, ok bool) {
	for _, c := range r.index.graph.requirements[r.index.graph.of[target][k]].sure {
		if c == target || !r.sameWorkspace(c, target) {
			continue
		}
		if r.assigned(i, c) {
			return c, true
		}
		if !ok {
			t, ok = c, true
		}
	}
	return t, ok
}

// sameWorkspace reports whether two targets belong to the same workspace. A team does not learn why another team's
// target is missing.
func (r *reasons) sameWorkspace(a, b int32) bool {
	of := r.index.graph.targets[a].Workspace
	return of == r.index.graph.targets[b].Workspace && !unknown.Is(of)
}

// assigned reports whether the target is assigned to the cluster type, or the fleet refused it.
func (r *reasons) assigned(i int, t int32) bool {
	_, found := slices.BinarySearch(r.index.placements[i].targets, t)
	return found || int(t) >= r.index.graph.scheduled
}

// unmet returns why requirement k of a target is not met on a cluster type.
func (r *reasons) unmet(target int32, k, i int) string {
	c, ok := r.candidate(target, k, i)
	if !ok {
		return r.whyNone(target, k)
	}
	name := r.index.graph.targets[c].Name
	if r.assigned(i, c) {
		return name + " fails by its team's fault, so it is left out."
	}
	text := "no scheduling policy places " + name + " there."
	if r.about[name] {
		if answer, err := r.explanation.Explain(name, r.index.clusterType(i)); err == nil && len(answer.Policies) > 0 {
			text = name + " has no valid namespace there." // so it is not assigned
		} else if err == nil {
			text = name + " is not there. " + answer.Reason
		}
	}
	if r.index.onBranch(i, name) {
		text += " This change removes it from there."
	}
	return text
}

// whyNone returns the reason why a requirement is not met if no target of the same workspace satisfies it.
func (r *reasons) whyNone(target int32, k int) string {
	wanted := r.index.graph.requirements[r.index.graph.of[target][k]]
	where := fmt.Sprintf("environment %q", r.index.fleet.Environment)
	w := slices.IndexFunc(r.index.fleet.Workloads, func(w *fleet.Workload) bool { return w.Name == wanted.Workload })
	switch {
	case slices.ContainsFunc(wanted.sure, func(t int32) bool { return t != target }),
		w >= 0 && r.index.fleet.Workspace(r.index.fleet.Workloads[w]) != r.index.graph.targets[target].Workspace:
		return "it is not there."
	case len(wanted.sure) > 0:
		return "only " + r.index.graph.targets[target].Name + " itself satisfies it in " + where + "."
	case wanted.Workload == "":
		return "no deployment target in " + where + " has these labels."
	case w < 0:
		return fmt.Sprintf("the workload %q does not exist.", wanted.Workload)
	}
	return fmt.Sprintf("the workload has no such deployment target in %s.", where)
}

// whyRefused returns why a target fails on a cluster type, whatever other targets are there.
func (r *reasons) whyRefused(t int32, i int) string {
	for _, c := range r.index.cycles {
		if slices.Contains(c.targets, t) && slices.Contains(c.placements, i) {
			return "the deployment targets require each other: " + c.text(r.index.graph.targets) + "."
		}
	}
	return "too many deployment targets satisfy the requirements."
}
