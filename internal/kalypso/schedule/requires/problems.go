package requires

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// gap is a requirement of a target that is not met on some cluster types.
type gap struct {
	target     int32
	k          int // its number among the target's requirements
	placements []int
}

// gaps returns the requirements that are not met, by target.
func (x *Index) gaps() (all []gap) {
	at := map[[2]int]*gap{}
	for i := range x.placements {
		for n, k := range x.unmet(i) {
			t := x.placements[i].targets[n]
			key := [2]int{int(t), k}
			if at[key] == nil {
				at[key] = &gap{target: t, k: k}
			}
			at[key].placements = append(at[key].placements, i)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(at), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		all = append(all, *at[key])
	}
	return all
}

// Faults returns the cycles, and the targets that require too many other targets, as faults of teams. If the
// reaction is [problem.Fail], it also returns the requirements that are not met. Call it once it is known which targets
// are left out.
func (x *Index) Faults(ctx context.Context) (ps problem.Problems) {
	if x == nil {
		return nil
	}
	var all []gap
	if x.options.Reaction == problem.Fail {
		all = x.gaps()
	}
	if len(all)+len(x.cycles)+len(x.tooMany) == 0 {
		return nil
	}
	why := x.reasons(ctx, all)
	for _, c := range x.cycles {
		ps = append(ps, why.cycleProblem(c))
	}
	for of := range x.byWorkload(x.tooMany) {
		ps = append(ps, why.tooManyProblem(of))
	}
	for of := range x.byWorkload(all) {
		p := why.problem(of, summary, why.text(of)+"\n"+advice+" guardrails.requires is \"error\".")
		p.Path = append(p.Path, problem.Index(of[0].k))
		ps = append(ps, p)
	}
	return ps
}

// byWorkload yields the gaps by the Workload of their target.
func (x *Index) byWorkload(all []gap) iter.Seq[[]gap] {
	of := func(g gap) *fleet.Workload { return x.graph.targets[g.target].Workload }
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b gap) int { return strings.Compare(of(a).Name, of(b).Name) })
	return lists.Runs(all, of)
}

const (
	summary = "Required deployment targets are missing"
	advice  = "Let a scheduling policy place the required deployment targets on the same cluster types, or remove the " +
		"requirement."
)

// Warning returns one warning about all requirements that are not met, if the reaction is [problem.Warn].
func (x *Index) Warning(ctx context.Context) problem.Problems {
	if x == nil || x.options.Reaction != problem.Warn {
		return nil
	}
	all := x.gaps()
	if len(all) == 0 {
		return nil
	}
	return problem.Problems{problem.WarningAt(summary, x.reasons(ctx, all).text(all)+"\n"+advice,
		"guardrails", "requires")}
}

// Reason says whether a requirement of an assignment is met.
type Reason struct {
	Requirement fleet.Requirement
	SatisfiedBy []string // the targets on the cluster type that satisfy it, by name
	Missing     string   // why it is not met; empty if it is met or may be met
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
			for k, number := range x.graph.of[self] {
				reason := Reason{Requirement: x.graph.requirements[number].Requirement}
				for _, t := range x.graph.requirements[number].sure {
					if t != self && p.present.contains(t) {
						reason.SatisfiedBy = append(reason.SatisfiedBy, x.graph.targets[t].Name)
					}
				}
				slices.Sort(reason.SatisfiedBy) // before sorting, targets that the fleet refused are last
				switch {
				case missing[[2]int{n, k}]:
					reason.Missing = why.unmet(self, k, i)
				case x.Refuses(i, n):
					reason.Missing = why.whyRefused(self, i)
				}
				all = append(all, reason)
			}
			if len(all) > 0 {
				yield(i, n, all)
			}
		}
	}
}
