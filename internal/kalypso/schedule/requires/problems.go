package requires

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// gap is a requirement of a target that is not met on some cluster types.
type gap struct {
	target     int32
	k          int // of the target's requirements
	placements []int
}

// gaps returns the requirements that are not met, by target.
func (x *Index) gaps() (all []gap) {
	type key struct {
		target int32
		k      int
	}
	at := map[key]int{}
	for i := range x.placements {
		for n, k := range x.unmet(i) {
			t := x.placements[i].targets[n]
			found, ok := at[key{t, k}]
			if !ok {
				found = len(all)
				at[key{t, k}] = found
				all = append(all, gap{target: t, k: k})
			}
			all[found].placements = append(all[found].placements, i)
		}
	}
	slices.SortFunc(all, compareGaps)
	return all
}

const (
	mostListed       = 20 // requirements in a text
	mostClusterTypes = 5  // in a line
	mostExplained    = 1000
)

// Faults returns the requirements that are not met, the cycles, and targets that require too many, as faults of the teams
// that require something. Requirements that are not met are not, unless the fleet's reaction is [problem.Fail]; then call it once it is known which targets are left
// out.
func (x *Index) Faults(ctx context.Context) (ps problem.Problems) {
	if x == nil {
		return nil
	}
	for _, c := range x.cycles {
		ps = append(ps, x.cycleProblem(c))
	}
	for _, g := range x.tooMany {
		ps = append(ps, x.tooManyProblem(g))
	}
	if x.fleet.Requires != problem.Fail {
		return ps
	}
	all := x.gaps()
	why := x.reasons(ctx, all)
	slices.SortStableFunc(all, func(a, b gap) int { // by workload
		return strings.Compare(x.targets[a.target].Workload.Name, x.targets[b.target].Workload.Name)
	})
	for len(all) > 0 {
		w := x.targets[all[0].target].Workload
		n := slices.IndexFunc(all, func(g gap) bool { return x.targets[g.target].Workload != w })
		if n < 0 {
			n = len(all)
		}
		p := problem.Problem{
			Fault: problem.TeamFault, Path: x.path(all[0].target, problem.Index(all[0].k)), Summary: summary,
			Detail: why.text(all[:n]) + "\n" + advice + " guardrails.requires is \"error\".",
		}
		p.Cause = p.Detail
		for _, g := range all[:n] {
			for _, i := range g.placements {
				p.Affects = append(p.Affects, problem.AffectedTarget{
					ClusterType: x.clusterType(i), Name: x.targets[g.target].Name,
				})
			}
		}
		ps, all = append(ps, fleet.ProblemOf(w, p)), all[n:]
	}
	return ps
}

const (
	summary = "Required deployment targets are missing"
	advice  = "Have a scheduling policy place what is required on the same cluster types, or remove the requirement."
)

// Warning returns one warning about all requirements that are not met, if that is the fleet's reaction.
func (x *Index) Warning(ctx context.Context) problem.Problems {
	if x == nil || x.fleet.Requires != problem.Warn {
		return nil
	}
	all := x.gaps()
	if len(all) == 0 {
		return nil
	}
	return problem.Problems{problem.WarningAt(summary, x.reasons(ctx, all).text(all)+"\n"+advice,
		"guardrails", "requires")}
}

// path is the path to the requirements of a target in its Workload.
func (x *Index) path(t int32, more ...problem.Step) []problem.Step {
	target := x.targets[t]
	n := slices.IndexFunc(target.Workload.Targets, func(w fleet.Target) bool {
		return target.Workload.Name+"-"+w.Name == target.Name && x.fleet.MayRender(&w)
	})
	return append([]problem.Step{
		problem.Attr("deployment_targets"), problem.Index(max(n, 0)), problem.Attr("requires"),
	}, more...)
}

func (x *Index) cycleProblem(c *cycle) problem.Problem {
	p := problem.Problem{
		Fault: problem.TeamFault, Path: x.path(c.path[0]), Summary: "Deployment targets require each other",
		Detail: fmt.Sprintf("On %s:\n%s\nNone of them can be ready before the others. Remove one of these requirements.",
			x.clusterTypes(c.placements), problem.IndentedList([]string{x.pathText(c)}, 1)),
	}
	p.Cause = p.Detail
	for _, i := range c.placements {
		for _, t := range c.targets {
			p.Affects = append(p.Affects, problem.AffectedTarget{ClusterType: x.clusterType(i), Name: x.targets[t].Name})
		}
	}
	return fleet.ProblemOf(x.targets[c.path[0]].Workload, p)
}

func (x *Index) tooManyProblem(g gap) problem.Problem {
	p := problem.Problem{
		Fault: problem.TeamFault, Path: x.path(g.target), Summary: "Too many required deployment targets",
		Detail: fmt.Sprintf("More than %d deployment targets satisfy what %s requires on %s. Require fewer, or labels that "+
			"fewer targets have.", mostBeside, x.targets[g.target].Name, x.clusterTypes(g.placements)),
	}
	p.Cause = p.Detail
	for _, i := range g.placements {
		p.Affects = append(p.Affects, problem.AffectedTarget{
			ClusterType: x.clusterType(i), Name: x.targets[g.target].Name,
		})
	}
	return fleet.ProblemOf(x.targets[g.target].Workload, p)
}

func (x *Index) clusterTypes(placements []int) string {
	names := make([]string, len(placements))
	for n, i := range placements {
		names[n] = x.clusterType(i)
	}
	return problem.First(names, mostClusterTypes)
}

// reasons explains why requirements are not met.
type reasons struct {
	*Index
	explanation *explain.Explanation // about the first of the targets
	about       map[string]bool
}

// reasons returns the reasons for the gaps. Those of the first ones name the nearest policy.
func (x *Index) reasons(ctx context.Context, all []gap) *reasons {
	r := &reasons{Index: x, about: map[string]bool{}}
	for _, g := range all {
		if t, ok := x.candidate(g.target, g.k, g.placements[0]); ok && len(r.about) < mostExplained {
			r.about[x.targets[t].Name] = true
		}
	}
	names := make([]string, 0, len(r.about))
	for name := range r.about {
		names = append(names, name)
	}
	slices.Sort(names)
	r.explanation = explain.About(ctx, x.fleet, x.schedule, names...)
	return r
}

// text lists the gaps, each with the reason on its first cluster type.
func (r *reasons) text(all []gap) string {
	lines := make([]string, len(all))
	for n, g := range all[:min(len(all), mostListed)] {
		target := r.targets[g.target]
		at := ""
		if len(g.placements) > 1 {
			at = "on " + r.clusterType(g.placements[0]) + ", "
		}
		lines[n] = fmt.Sprintf("%s on %s requires %s: %s%s", target.Name, r.clusterTypes(g.placements),
			target.Requires[g.k], at, r.why(g.target, g.k, g.placements[0]))
	}
	return fmt.Sprintf("%s not met in environment %q:\n%s", requirementsAre(len(all)), r.fleet.Environment,
		problem.IndentedList(lines, mostListed))
}

func requirementsAre(n int) string {
	if n == 1 {
		return "1 requirement is"
	}
	return fmt.Sprintf("%d requirements are", n)
}

// candidate returns the target that could satisfy a requirement: of those that are of the same workspace, one on the
// cluster type, else one that the team of the requirement knows of.
func (x *Index) candidate(target int32, k, i int) (t int32, ok bool) {
	for _, c := range x.requirements[x.of[target][k]].sure {
		if c == target || !x.sameWorkspace(c, target) {
			continue
		}
		if x.assigned(i, c) {
			return c, true
		}
		if !ok {
			t, ok = c, true
		}
	}
	return t, ok
}

// sameWorkspace reports whether two targets are of the same workspace. A team does not hear why another team's target is
// not there.
func (x *Index) sameWorkspace(a, b int32) bool {
	return x.targets[a].Workspace == x.targets[b].Workspace && !unknown.Is(x.targets[a].Workspace)
}

// assigned reports whether the target is assigned to the cluster type, or the fleet refused it.
func (x *Index) assigned(i int, t int32) bool {
	_, found := slices.BinarySearch(x.placements[i].targets, t)
	return found || int(t) >= len(x.schedule.Targets)
}

// why returns why requirement k of a target is not met on a cluster type.
func (r *reasons) why(target int32, k, i int) string {
	c, ok := r.candidate(target, k, i)
	if !ok {
		return r.whyNone(target, k)
	}
	name := r.targets[c].Name
	if r.assigned(i, c) {
		return name + " fails by its team's fault, so it is left out."
	}
	text := "no scheduling policy places " + name + " there."
	if r.about[name] {
		if answer, err := r.explanation.Why(name, r.clusterType(i)); err == nil {
			text = name + " is not there. " + answer.Reason
		}
	}
	if r.onBranch(i, name) {
		text += " This change removes it from there."
	}
	return text
}

// whyNone returns why a requirement is not met that no target of the same workspace satisfies.
func (r *reasons) whyNone(target int32, k int) string {
	wanted := r.requirements[r.of[target][k]]
	where := fmt.Sprintf("environment %q", r.fleet.Environment)
	w := slices.IndexFunc(r.fleet.Workloads, func(w *fleet.Workload) bool { return w.Name == wanted.Workload })
	switch {
	case slices.ContainsFunc(wanted.sure, func(t int32) bool { return t != target }),
		w >= 0 && r.fleet.Workspace(r.fleet.Workloads[w]) != r.targets[target].Workspace:
		return "it is not there."
	case len(wanted.sure) > 0:
		return "only " + r.targets[target].Name + " itself satisfies it in " + where + "."
	case wanted.Workload == "":
		return "no deployment target in " + where + " has these labels."
	case w < 0:
		return fmt.Sprintf("the workload %q does not exist.", wanted.Workload)
	}
	return fmt.Sprintf("the workload has no such deployment target in %s.", where)
}

// Reason says whether a requirement of an assignment is met.
type Reason struct {
	Requirement fleet.Requirement
	SatisfiedBy []string // the targets on the cluster type that satisfy it, by name
	Missing     string   // why it is not met; empty if it is met, or may be
}

// whyRefused returns why a target fails on a cluster type whatever is there.
func (x *Index) whyRefused(t int32, i int) string {
	for _, c := range x.cycles {
		if slices.Contains(c.targets, t) && slices.Contains(c.placements, i) {
			return "the deployment targets require each other: " + x.pathText(c) + "."
		}
	}
	return "too many deployment targets satisfy the requirements."
}

// Reasons returns, for the assignments of each placement, whether their requirements are met. It calls yield for the
// assignments with requirements.
func (x *Index) Reasons(ctx context.Context, yield func(i, n int, all []Reason)) {
	if x == nil {
		return
	}
	why := x.reasons(ctx, x.gaps())
	for i := range x.placements {
		p := &x.placements[i]
		missing := map[[2]int]bool{}
		for n, k := range x.unmet(i) {
			missing[[2]int{n, k}] = true
		}
		for n, self := range p.targets {
			var all []Reason
			for k, number := range x.of[self] {
				reason := Reason{Requirement: x.requirements[number].Requirement}
				for _, t := range x.requirements[number].sure {
					if t != self && p.there.contains(t) {
						reason.SatisfiedBy = append(reason.SatisfiedBy, x.targets[t].Name)
					}
				}
				slices.Sort(reason.SatisfiedBy) // those that the fleet refused are last
				switch {
				case missing[[2]int{n, k}]:
					reason.Missing = why.why(self, k, i)
				case x.Refuses(i, n):
					reason.Missing = x.whyRefused(self, i)
				}
				all = append(all, reason)
			}
			if len(all) > 0 {
				yield(i, n, all)
			}
		}
	}
}
