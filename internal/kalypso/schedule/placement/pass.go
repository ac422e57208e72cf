package placement

import (
	"context"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// ClusterType is a cluster type that policies may place on.
type ClusterType struct {
	Name       string
	Labels     map[string]string
	Taints     []Taint
	Properties map[string]string // Kubernetes quantities; other values are left out
}

// Policy is a policy with the objects that its selectors select, as ascending indexes of [Fleet].
type Policy struct {
	Name         string
	Spec         *Spec // nil: all cluster types that fit
	ClusterTypes []int
	Targets      []int
}

// Fleet is the input of a pass. Each list is sorted by name.
type Fleet struct {
	ClusterTypes []ClusterType
	Targets      []string
	Policies     []Policy
	Prior        PriorResults
	// Most limits how many cluster types one policy chooses for all its deployment targets together; 0: unlimited.
	Most int
}

// Outcome is the result of a pass.
type Outcome struct {
	fleet *Fleet
	// chosen contains, for each policy and each of its deployment targets, the cluster types, ascending. It is empty for a
	// policy that the pass did not reach.
	chosen [][][]int32
	// Exceeds is the first policy that chose more than [Fleet.Most] cluster types, or -1. Chosen is the number that it had
	// chosen by then.
	Exceeds, Chosen int
}

// Decide decides for each policy and deployment target, in the order of the lists, since the balance score depends on
// earlier decisions. A second pass that gets the first pass's decisions as [Earlier] makes the same decisions. Decide
// stops once ctx is done, or a policy exceeds [Fleet.Most].
func Decide(ctx context.Context, f *Fleet) *Outcome {
	p := newPass(f)
	for i := range f.Policies {
		if ctx.Err() != nil || !p.policy(ctx, i) {
			break
		}
	}
	return p.outcome
}

// Each calls visit for each deployment target of a policy with the cluster types that it chose, as indexes.
func (o *Outcome) Each(policy int, visit func(target int, clusterTypes []int32)) {
	for n, chosen := range o.chosen[policy] {
		visit(o.fleet.Policies[policy].Targets[n], chosen)
	}
}

// Decisions returns the decisions to pass to the next pass. It skips policies that do not choose among cluster types.
func (o *Outcome) Decisions() Decisions {
	all := Decisions{}
	for i := range o.fleet.Policies {
		p := &o.fleet.Policies[i]
		if !p.Spec.Decides() {
			continue
		}
		decided := PolicyDecisions{p.Spec.Generation, make(map[string][]string, len(o.chosen[i]))}
		var last []int32
		names := []string{}
		o.Each(i, func(target int, clusterTypes []int32) {
			if !slices.Equal(clusterTypes, last) { // equal lists share the names
				names = make([]string, len(clusterTypes))
				for n, c := range clusterTypes {
					names[n] = o.fleet.ClusterTypes[c].Name
				}
				last = clusterTypes
			}
			decided.Targets[o.fleet.Targets[target]] = names
		})
		all[p.Name] = decided
	}
	return all
}

// pass is a running pass.
type pass struct {
	outcome    *Outcome
	fleet      *Fleet
	index      map[string]int32 // cluster type → index
	properties []map[string]float64
	explained  explained // nil: not computed yet
	// load counts, for each cluster type, the deployment targets of policies with a number. It starts with the counts
	// before the pass, and changes with each decision. It is nil if no policy balances.
	load []int
	// indexed caches the last names that were passed to indexes, and their indexes, since most deployment targets share
	// them.
	indexed struct {
		names   []string
		indexes []int32
	}
	// trace, if not nil, is called for each decision.
	trace func(c *choice, chosen []int32)
}

func newPass(f *Fleet) *pass {
	p := &pass{
		outcome: &Outcome{fleet: f, chosen: make([][][]int32, len(f.Policies)), Exceeds: -1},
		fleet:   f, index: make(map[string]int32, len(f.ClusterTypes)),
		properties: make([]map[string]float64, len(f.ClusterTypes)),
	}
	for i := len(f.ClusterTypes) - 1; i >= 0; i-- { // if two share a name, which validation reports, use the first
		p.index[f.ClusterTypes[i].Name] = int32(i) //nolint:gosec // there are no 2^31 cluster types
		p.properties[i] = quantities(f.ClusterTypes[i].Properties)
	}
	if slices.ContainsFunc(f.Policies, func(policy Policy) bool { return policy.Spec.balances() }) {
		p.load = make([]int, len(f.ClusterTypes))
		for i := range f.Policies {
			for _, t := range f.Policies[i].Targets {
				p.addLoad(i, p.prior(i, t), 1)
			}
		}
	}
	return p
}

func quantities(properties map[string]string) map[string]float64 {
	if len(properties) == 0 {
		return nil
	}
	all := make(map[string]float64, len(properties))
	for name, text := range properties {
		if q, err := resource.ParseQuantity(text); err == nil {
			all[name] = q.AsApproximateFloat64()
		}
	}
	return all
}

// addLoad adds to load, if it includes the decisions of the policy.
func (p *pass) addLoad(policy int, clusterTypes []int32, n int) {
	if spec := p.fleet.Policies[policy].Spec; p.load == nil || spec == nil || spec.Number == nil {
		return
	}
	for _, c := range clusterTypes {
		p.load[c] += n
	}
}

// prior returns the cluster types that the policy chose for a deployment target before, ascending. If the policy has no
// decision about the target, prior returns the cluster types that have the target and that no other policy's decisions
// explain. If the generation changed, it returns none. A policy that places on all fitting cluster types stores no
// decisions, so prior returns all cluster types that have the target.
func (p *pass) prior(policy, target int) []int32 {
	name := p.fleet.Targets[target]
	spec := p.fleet.Policies[policy].Spec
	if !spec.Decides() {
		return p.indexes(p.fleet.Prior.Placed[name])
	}
	earlier, known := p.fleet.Prior.Decisions[p.fleet.Policies[policy].Name]
	if known && earlier.Generation != spec.Generation {
		return nil
	}
	if chosen, decided := earlier.Targets[name]; decided {
		return p.indexes(chosen)
	}
	hosts := slices.Clone(p.indexes(p.fleet.Prior.Placed[name]))
	if len(hosts) == 0 {
		return nil
	}
	if p.explained == nil {
		p.explained = newExplained(p.fleet)
	}
	for _, chosen := range p.explained[name] {
		others := p.indexes(chosen)
		hosts = slices.DeleteFunc(hosts, func(c int32) bool { return contains(others, c) })
	}
	return hosts
}

// indexes returns the indexes of cluster types, ascending. It skips cluster types that no longer exist.
func (p *pass) indexes(names []string) []int32 {
	if len(names) == 0 {
		return nil
	}
	if last := p.indexed.names; len(last) == len(names) && &last[0] == &names[0] {
		return p.indexed.indexes
	}
	all := make([]int32, 0, len(names))
	for _, name := range names {
		if i, ok := p.index[name]; ok {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	p.indexed.names, p.indexed.indexes = names, slices.Compact(all)
	return p.indexed.indexes
}

// policy decides for all deployment targets of a policy, and reports whether the pass continues.
func (p *pass) policy(ctx context.Context, i int) bool {
	policy := &p.fleet.Policies[i]
	defer problem.NamePanic("SchedulingPolicy", policy.Name)
	c := p.newChooser(policy)
	chosen := make([][]int32, 0, len(policy.Targets))
	total := 0
	for _, t := range policy.Targets {
		prior := p.prior(i, t)
		p.addLoad(i, prior, -1)
		chosenHere := c.choose(ctx, t, prior)
		if ctx.Err() != nil {
			return false
		}
		p.addLoad(i, chosenHere, 1)
		total += len(chosenHere)
		if p.fleet.Most > 0 && total > p.fleet.Most {
			p.outcome.Exceeds, p.outcome.Chosen = i, total
			return false
		}
		chosen = append(chosen, chosenHere)
	}
	p.outcome.chosen[i] = chosen
	return true
}

// explained maps each deployment target to the earlier decisions about it, one for each policy that still decides. Only
// a policy without a decision about the target looks it up, so all decisions that it finds are other policies'.
type explained map[string][][]string

func newExplained(f *Fleet) explained {
	e := explained{}
	for _, policy := range f.Policies {
		if !policy.Spec.Decides() {
			continue
		}
		for target, clusterTypes := range f.Prior.Decisions[policy.Name].Targets {
			e[target] = append(e[target], clusterTypes)
		}
	}
	return e
}

// number returns the number of cluster types that a deployment target gets. It is 0 for an invalid number.
func (s *Spec) number() int {
	if s == nil || s.Number == nil {
		return math.MaxInt
	}
	return max(*s.Number, 0)
}
