// Package requires finds, for each assignment, the deployment targets on the same cluster type that satisfy its
// requirements. It also finds requirements that no target satisfies, and cycles.
package requires

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Index finds the deployment targets that satisfy requirements. A nil Index belongs to a fleet without requirements.
//
// For each placement, it knows which targets are there: the assigned targets except those that are left out of the
// tree. Goroutines can change different placements at the same time.
type Index struct {
	graph      *graph
	fleet      *fleet.Fleet
	schedule   *schedule.Schedule
	options    Options
	placements []placement
	cycles     []*cycle
	tooMany    []gap // targets that require too many other targets
}

// Options say what happens if requirements are not met.
type Options struct {
	// Reaction is the reaction to requirements that no deployment target satisfies, see [fleet.Requirement]. If it is
	// [problem.Ignore], empty or not known yet, requirements are not checked.
	Reaction problem.Reaction
	// LeaveOutFailed says that a deployment target with a [problem.TeamFault] is left out of the tree, instead of failing
	// the rendering.
	LeaveOutFailed bool
	// OnBranch reports whether the branch contains the folder of a target on a cluster type. Such a folder is kept if the
	// target fails. The function may be nil: the branch contains no folder.
	OnBranch func(clusterType, target string) bool
}

// graph contains the deployment targets with their requirements.
type graph struct {
	targets      []*fleet.DeploymentTarget // the targets of the schedule, then the targets that the fleet refused
	scheduled    int                       // the number of targets of the schedule
	requirements []requirement             // without duplicates
	of           [][]int32                 // target → its requirements, in the order of the target
}

// requirement is a requirement with the targets of the environment that satisfy it, and the targets that may satisfy it
// once all values are known.
type requirement struct {
	fleet.Requirement
	unknown        bool // a part of it is not known yet
	sure, possible []int32
}

// placement contains what the index knows about one cluster type.
type placement struct {
	targets []int32 // of its assignments
	present set
	refused set // the targets that are on a cycle or require too many targets; may be nil
	waves   func() []int32
}

// set contains targets.
type set []uint64

func newSet(n int) set              { return make(set, (n+63)/64) }
func (s set) add(t int32)           { s[t/64] |= 1 << (t % 64) }
func (s set) remove(t int32)        { s[t/64] &^= 1 << (t % 64) }
func (s set) contains(t int32) bool { return s[t/64]&(1<<(t%64)) != 0 }

// New returns the index of a schedule, or nil if no deployment target has a requirement. If there is a reaction to
// requirements that are not met, it also finds cycles.
func New(f *fleet.Fleet, s *schedule.Schedule, o Options) *Index {
	if !slices.ContainsFunc(s.Targets, func(t *fleet.DeploymentTarget) bool { return len(t.Requires) > 0 }) {
		return nil
	}
	g := &graph{targets: slices.Concat(s.Targets, f.RefusedTargets()), scheduled: len(s.Targets)}
	g.addRequirements()
	g.match()
	x := &Index{graph: g, fleet: f, schedule: s, options: o}
	x.place()
	x.findTooMany()
	if o.Reaction.Reports() {
		x.findCycles()
	}
	return x
}

// addRequirements collects the different requirements.
func (g *graph) addRequirements() {
	numbers := map[string]int32{}
	g.of = make([][]int32, len(g.targets))
	for t, target := range g.targets[:g.scheduled] {
		for _, r := range target.Requires {
			key := r.Key()
			n, ok := numbers[key]
			if !ok {
				n = int32(len(g.requirements)) //nolint:gosec // bounded by the size of the fleet
				numbers[key] = n
				g.requirements = append(g.requirements, requirement{Requirement: r})
			}
			g.of[t] = append(g.of[t], n)
		}
	}
}

// place sets which targets are on which cluster type. A target that the fleet refused is there if the branch keeps it.
// If failing targets stop the apply, all refused targets are treated as if they were there.
func (x *Index) place() {
	x.placements = make([]placement, len(x.schedule.Placements))
	for i, p := range x.schedule.Placements {
		assigned := make([]int32, len(p.Assignments))
		made := placement{targets: assigned, present: newSet(len(x.graph.targets))}
		made.waves = sync.OnceValue(func() []int32 { return x.graph.waves(assigned, x.placements[i].refused) })
		t := int32(0) // both have the same order
		for n := range p.Assignments {
			for x.graph.targets[t] != p.Assignments[n].Target {
				t++
			}
			made.targets[n] = t
			made.present.add(t)
		}
		for t := x.graph.scheduled; t < len(x.graph.targets); t++ {
			if !x.options.LeaveOutFailed || x.onBranch(i, x.graph.targets[t].Name) {
				made.present.add(int32(t)) //nolint:gosec // bounded by the size of the fleet
			}
		}
		x.placements[i] = made
	}
}

// onBranch reports whether the branch contains a target on a cluster type.
func (x *Index) onBranch(i int, target string) bool {
	return x.options.OnBranch != nil && x.options.OnBranch(x.clusterType(i), target)
}

func (x *Index) clusterType(i int) string { return x.schedule.Placements[i].ClusterType.Name }

// Target is a deployment target that satisfies a requirement, with its namespace on the cluster type.
type Target struct {
	Name, Workload, Namespace string

	wave int
}

// Wave returns the number of the wave in which the target can be synced, after all targets that it requires on the
// cluster type were synced in earlier waves. It is 0 for a target without requirements.
func (t Target) Wave() int { return t.wave }

// InWave returns a copy of t with another wave.
func (t Target) InWave(n int) Target {
	t.wave = n
	return t
}

// Satisfying returns the targets that satisfy the requirements of assignment n of placement i, sorted by name. It
// returns false if some of them are not known yet.
func (x *Index) Satisfying(i, n int) (all []Target, known bool) {
	if x == nil {
		return nil, true
	}
	p := &x.placements[i]
	self := p.targets[n]
	if x.Refuses(i, n) { // the target is not rendered
		return nil, true
	}
	var found []int32
	for _, r := range x.graph.of[self] {
		maySatisfy := func(t int32) bool { return t != self && p.present.contains(t) }
		if slices.ContainsFunc(x.graph.requirements[r].possible, maySatisfy) {
			return nil, false
		}
		for _, t := range x.graph.requirements[r].sure {
			if t != self && p.present.contains(t) {
				found = append(found, t)
			}
		}
	}
	slices.Sort(found)
	for _, t := range slices.Compact(found) {
		target := x.graph.targets[t]
		namespace, err := schedule.Namespace(x.fleet.Environment, x.clusterType(i), target.Name)
		if err == nil { // with an error, it is not assigned, which is reported elsewhere
			all = append(all, Target{target.Name, target.Workload.Name, namespace, int(p.waves()[t])})
		}
	}
	slices.SortFunc(all, func(a, b Target) int { return cmp.Compare(a.Name, b.Name) }) // refused targets are not in order
	return all, true
}

// Uncertain reports whether it depends on unknown values which targets satisfy a requirement.
func (x *Index) Uncertain() bool {
	return x != nil && slices.ContainsFunc(x.graph.requirements, func(r requirement) bool { return len(r.possible) > 0 })
}

// unmet yields the requirements that no target on a cluster type satisfies: the number of the assignment, and the
// number of the requirement among its target's requirements. It skips refused targets and unknown requirements.
func (x *Index) unmet(i int) iter.Seq2[int, int] {
	return func(yield func(n, k int) bool) {
		p := &x.placements[i]
		count := x.counter(p, 2)
		for n, self := range p.targets {
			if x.Refuses(i, n) {
				continue
			}
			for k, r := range x.graph.of[self] {
				if x.graph.requirements[r].unknown {
					continue
				}
				others := count(r)
				if others == 1 && x.graph.requirements[r].maySatisfy(self) && p.present.contains(self) {
					others = 0
				}
				if others == 0 && !yield(n, k) {
					return
				}
			}
		}
	}
}

// counter returns a function that counts the targets on a cluster type that satisfy a requirement or may satisfy it. It
// counts once for each requirement, and stops at the limit.
func (x *Index) counter(p *placement, limit int) func(requirement int32) int {
	counts := make([]int, len(x.graph.requirements)) // plus 1
	return func(n int32) int {
		if counts[n] > 0 {
			return counts[n] - 1
		}
		counts[n] = 1
		for _, all := range [][]int32{x.graph.requirements[n].sure, x.graph.requirements[n].possible} {
			for _, t := range all {
				if counts[n] > limit {
					return limit
				}
				if p.present.contains(t) {
					counts[n]++
				}
			}
		}
		return counts[n] - 1
	}
}

// maySatisfy reports whether a target satisfies the requirement, or may satisfy it.
func (r *requirement) maySatisfy(t int32) bool {
	_, sure := slices.BinarySearch(r.sure, t)
	_, maybe := slices.BinarySearch(r.possible, t)
	return sure || maybe
}

// LeaveOut removes the targets of assignments that fail from placement i, unless the branch keeps them. It returns the
// assignments that lose a target which satisfied their requirements. If failing targets stop the apply, it does
// nothing.
func (x *Index) LeaveOut(i int, fails func(n int) bool) (changed []int) {
	if x == nil || !x.options.LeaveOutFailed {
		return nil
	}
	p := &x.placements[i]
	var left []int32
	for n, t := range p.targets {
		if fails(n) && p.present.contains(t) && !x.onBranch(i, x.graph.targets[t].Name) {
			left = append(left, t)
			p.present.remove(t)
		}
	}
	if len(left) == 0 {
		return nil
	}
	for n, t := range p.targets {
		if slices.ContainsFunc(x.graph.of[t], func(r int32) bool {
			return slices.ContainsFunc(left, x.graph.requirements[r].maySatisfy)
		}) {
			changed = append(changed, n)
		}
	}
	return changed
}

// Fails yields the assignments of placement i that fail because a required target is missing, if the reaction is
// [problem.Fail].
func (x *Index) Fails(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if x == nil || x.options.Reaction != problem.Fail {
			return
		}
		for n := range x.unmet(i) {
			if !yield(n) {
				return
			}
		}
	}
}

// Refuses reports whether the target of assignment n of placement i fails, whatever other targets are there, because it
// is on a cycle or requires too many targets.
func (x *Index) Refuses(i, n int) bool {
	return x != nil && x.placements[i].refused != nil && x.placements[i].refused.contains(x.placements[i].targets[n])
}

func (x *Index) refuse(i int, t int32) {
	if x.placements[i].refused == nil {
		x.placements[i].refused = newSet(len(x.graph.targets))
	}
	x.placements[i].refused.add(t)
}

// mostBeside limits the number of targets on a cluster type that satisfy the requirements of one target, since
// templates loop over them.
const mostBeside = 128

// findTooMany refuses a target on a cluster type if too many other targets there satisfy its requirements.
func (x *Index) findTooMany() {
	found := map[int32]*gap{}
	for i := range x.placements {
		p := &x.placements[i]
		count := x.counter(p, mostBeside+1)
		for _, self := range p.targets {
			total := 0
			for _, r := range x.graph.of[self] {
				total += count(r)
			}
			if total <= mostBeside {
				continue
			}
			x.refuse(i, self)
			if found[self] == nil {
				found[self] = &gap{target: self}
			}
			found[self].placements = append(found[self].placements, i)
		}
	}
	for _, self := range slices.Sorted(maps.Keys(found)) {
		x.tooMany = append(x.tooMany, *found[self])
	}
}

// waves returns the waves of the targets that are assigned to a cluster type, see [Target.Wave]. Targets that are left
// out are included, so that leaving out a target does not change the waves of others.
func (g *graph) waves(assigned []int32, refused set) []int32 {
	here := newSet(len(g.targets))
	for _, t := range assigned {
		here.add(t)
	}
	waves, visited := make([]int32, len(g.targets)), newSet(len(g.targets))
	var visit func(t int32) int32
	visit = func(t int32) int32 {
		if visited.contains(t) {
			return waves[t] // a target on a cycle has no wave yet
		}
		visited.add(t)
		if refused != nil && refused.contains(t) {
			return 0
		}
		wave := int32(-1)
		for _, r := range g.of[t] {
			for _, other := range g.requirements[r].sure {
				if other != t && here.contains(other) {
					wave = max(wave, visit(other))
				}
			}
		}
		waves[t] = wave + 1
		return waves[t]
	}
	for _, t := range assigned {
		visit(t)
	}
	return waves
}
