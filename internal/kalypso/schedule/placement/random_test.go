package placement

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestRandomPasses runs passes on random fleets with random earlier decisions. No target moves from a cluster type that
// it fits, each target is on the wanted number of cluster types if possible, and a second pass changes nothing.
func TestRandomPasses(t *testing.T) {
	for seed := range seeds.Of(t, 500, 5000) {
		r := rand.New(rand.NewPCG(seed, 20))
		f := randomFleet(r)
		first := Decide(t.Context(), f)
		if problem := checkRules(f, first); problem != "" {
			t.Fatalf("seed %d: %s", seed, problem)
		}
		again := *f
		again.Prior = PriorResults{Decisions: roundTrip(t, first.Decisions()), Placed: existing(f, first)}
		second := Decide(t.Context(), &again)
		if diff := cmp.Diff(first.Decisions(), second.Decisions()); diff != "" {
			t.Fatalf("seed %d: decisions of the second pass (-first +second):\n%s", seed, diff)
		}
		if diff := cmp.Diff(again.Prior.Placed, existing(&again, second)); diff != "" {
			t.Fatalf("seed %d: cluster types of each target after the second pass (-first +second):\n%s", seed, diff)
		}
	}
}

func roundTrip(t *testing.T, d Decisions) (read Decisions) {
	t.Helper()
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !read.Equal(d) {
		t.Fatalf("the decisions changed when they were written and read (-written +read):\n%s", cmp.Diff(d, read))
	}
	return read
}

func existing(f *Fleet, o *Outcome) map[string][]string {
	all := map[string][]string{}
	for i := range f.Policies {
		o.Each(i, func(target int, clusterTypes []int32) {
			name := f.Targets[target]
			for _, c := range clusterTypes {
				all[name] = append(all[name], f.ClusterTypes[c].Name)
			}
			slices.Sort(all[name])
			all[name] = slices.Compact(all[name])
		})
	}
	return all
}

// checkRules returns how an outcome breaks the rules, or "". The rules here follow the documentation, not the code.
func checkRules(f *Fleet, o *Outcome) string {
	for i, p := range f.Policies {
		spec := p.Spec
		if spec == nil {
			spec = &Spec{}
		}
		problem := ""
		o.Each(i, func(target int, chosen []int32) {
			name := f.Targets[target]
			prior := priorOf(f, i, name)
			var fit, keep []int32
			for _, c := range p.ClusterTypes {
				if !fits(spec, f.ClusterTypes[c], slices.Contains(prior, f.ClusterTypes[c].Name)) {
					continue
				}
				fit = append(fit, int32(c))
				if slices.Contains(prior, f.ClusterTypes[c].Name) {
					keep = append(keep, int32(c))
				}
			}
			at := fmt.Sprintf("policy %s, target %s, chosen %v, fit %v, keep %v, %+v", p.Name, name, chosen, fit, keep, *spec)
			for _, c := range chosen {
				if !slices.Contains(fit, c) {
					problem = "does not fit: " + at
				}
			}
			number := len(fit)
			if spec.Number != nil {
				number = *spec.Number
			}
			if len(chosen) > number {
				problem = "more than the number: " + at
			}
			stay := 0
			for _, c := range keep {
				if slices.Contains(chosen, c) {
					stay++
				}
			}
			if spec.Decides() && stay != min(len(keep), number) {
				problem = "a target was moved from a cluster type that it fits: " + at
			}
			if len(chosen) < min(number, len(fit)) {
				for _, c := range fit {
					if !slices.Contains(chosen, c) && !beyondSkew(f, p, spec, chosen, c) {
						problem = fmt.Sprintf("%d could be placed: %s", c, at)
					}
				}
			}
		})
		if problem != "" {
			return problem
		}
	}
	return ""
}

// beyondSkew reports whether one more cluster type would exceed a hard spread.
func beyondSkew(f *Fleet, p Policy, spec *Spec, chosen []int32, c int32) bool {
	for _, s := range spec.Spread {
		if s.WhenUnsatisfiable == ScheduleAnyway {
			continue
		}
		counts := map[string]int{}
		for _, i := range p.ClusterTypes {
			if value, ok := f.ClusterTypes[i].Labels[s.Key]; ok && names(spec, f.ClusterTypes[i].Name) {
				counts[value] += 0
			}
		}
		for _, i := range append(slices.Clone(chosen), c) {
			counts[f.ClusterTypes[i].Labels[s.Key]]++
		}
		least, most := 1<<30, 0
		for _, n := range counts {
			least, most = min(least, n), max(most, n)
		}
		if most-least > s.MaxSkew {
			return true
		}
	}
	return false
}

func names(spec *Spec, name string) bool {
	return spec.Names == nil || slices.Contains(spec.Names, name)
}

func priorOf(f *Fleet, policy int, target string) []string {
	p := f.Policies[policy]
	if !p.Spec.Decides() {
		return f.Prior.Placed[target]
	}
	earlier, known := f.Prior.Decisions[p.Name]
	if known && earlier.Generation != p.Spec.Generation {
		return nil
	}
	if chosen, ok := earlier.Targets[target]; ok {
		return chosen
	}
	return slices.DeleteFunc(slices.Clone(f.Prior.Placed[target]), func(name string) bool {
		for i, other := range f.Policies {
			if i != policy && other.Spec.Decides() &&
				slices.Contains(f.Prior.Decisions[other.Name].Targets[target], name) {
				return true
			}
		}
		return false
	})
}

func fits(spec *Spec, ct ClusterType, there bool) bool {
	for _, s := range spec.Spread {
		if _, ok := ct.Labels[s.Key]; !ok && s.WhenUnsatisfiable != ScheduleAnyway {
			return false
		}
	}
	for _, taint := range ct.Taints {
		tolerated := taint.Effect == NoSelectIfNew && there
		for _, t := range spec.Tolerations {
			key := t.Key == "" || t.Key == taint.Key
			effect := t.Effect == "" || t.Effect == taint.Effect
			value := t.Operator == Exists || t.Value == taint.Value
			tolerated = tolerated || key && effect && value
		}
		if !tolerated {
			return false
		}
	}
	return names(spec, ct.Name)
}

func randomFleet(r *rand.Rand) *Fleet {
	f := &Fleet{}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	for i := range 1 + r.IntN(9) {
		ct := ClusterType{Name: fmt.Sprintf("c%d", i), Labels: map[string]string{}, Properties: map[string]string{}}
		for _, key := range []string{"region", "zone"} {
			if r.IntN(5) > 0 {
				ct.Labels[key] = pick("a", "b", "c")
			}
		}
		for range r.IntN(3) {
			if r.IntN(3) == 0 {
				ct.Taints = append(ct.Taints, Taint{pick("k1", "k2"), pick("", "v"), pick(Effects...)})
			}
		}
		for _, name := range []string{"cpu", "cost"} {
			if r.IntN(3) > 0 {
				ct.Properties[name] = pick("0", "1", "250m", "8", "64Gi", "1e3", "-3")
			}
		}
		f.ClusterTypes = append(f.ClusterTypes, ct)
	}
	for i := range 1 + r.IntN(8) {
		f.Targets = append(f.Targets, fmt.Sprintf("t%d", i))
	}
	for i := range 1 + r.IntN(4) {
		f.Policies = append(f.Policies, randomPolicy(r, f, fmt.Sprintf("p%d", i)))
	}
	f.Prior = randomEarlier(r, f)
	return f
}

func randomPolicy(r *rand.Rand, f *Fleet, name string) Policy {
	p := Policy{Name: name}
	for i := range f.ClusterTypes {
		if r.IntN(5) > 0 {
			p.ClusterTypes = append(p.ClusterTypes, i)
		}
	}
	for i := range f.Targets {
		if r.IntN(3) > 0 {
			p.Targets = append(p.Targets, i)
		}
	}
	if r.IntN(5) == 0 {
		return p
	}
	spec := &Spec{}
	if n := r.IntN(5); n > 0 {
		spec.Number = &n
	}
	if r.IntN(6) == 0 {
		spec.Names = []string{}
		for _, ct := range f.ClusterTypes {
			if r.IntN(2) == 0 {
				spec.Names = append(spec.Names, ct.Name)
			}
		}
	}
	for range r.IntN(3) {
		t := Toleration{Key: []string{"", "k1", "k2"}[r.IntN(3)], Effect: []string{"", NoSelect, NoSelectIfNew}[r.IntN(3)]}
		t.Operator = Exists
		if t.Key != "" && r.IntN(2) == 0 {
			t.Operator, t.Value = Equal, []string{"", "v"}[r.IntN(2)]
		}
		spec.Tolerations = append(spec.Tolerations, t)
	}
	for range r.IntN(3) {
		preference := Preference{Property: []string{"cpu", "cost"}[r.IntN(2)], Weight: r.IntN(21) - 10}
		if r.IntN(2) == 0 {
			preference.Property, preference.Balance = "", true
		}
		spec.Prefer = append(spec.Prefer, preference)
	}
	for _, key := range []string{"region", "zone"} {
		if r.IntN(3) == 0 {
			spec.Spread = append(spec.Spread, Spread{
				Key: key, MaxSkew: 1 + r.IntN(2), WhenUnsatisfiable: Unsatisfiables[r.IntN(2)],
			})
		}
	}
	spec.Generation = []string{"", "", "2"}[r.IntN(3)]
	p.Spec = spec
	return p
}

// randomEarlier returns earlier decisions, also of policies, targets and cluster types that no longer exist.
func randomEarlier(r *rand.Rand, f *Fleet) PriorResults {
	e := PriorResults{Decisions: Decisions{}, Placed: map[string][]string{}}
	some := func() []string {
		chosen := []string{}
		for _, ct := range append(slices.Clone(f.ClusterTypes), ClusterType{Name: "gone"}) {
			if r.IntN(4) == 0 {
				chosen = append(chosen, ct.Name)
			}
		}
		return chosen
	}
	for _, name := range []string{"p0", "p1", "p2", "p3", "renamed"} {
		if r.IntN(3) == 0 {
			continue
		}
		decided := PolicyDecisions{[]string{"", "", "2"}[r.IntN(3)], map[string][]string{}}
		for _, target := range append(slices.Clone(f.Targets), "gone") {
			if r.IntN(4) > 0 {
				decided.Targets[target] = some()
			}
		}
		e.Decisions[name] = decided
	}
	for _, target := range f.Targets {
		if r.IntN(2) == 0 {
			e.Placed[target] = some()
		}
	}
	return e
}

// TestFillSpread compares the choice of cluster types with the documented rule: they are chosen one at a time, by the
// smallest skew, then the highest score, then the name.
func TestFillSpread(t *testing.T) {
	for seed := range seeds.Of(t, 500, 5000) {
		r := rand.New(rand.NewPCG(seed, 30))
		f := &Fleet{Targets: []string{"t"}}
		policy := Policy{Name: "p", Targets: []int{0}, Spec: &Spec{
			Number: new(1 + r.IntN(20)), Prefer: []Preference{{Property: "cost", Weight: 1}},
		}}
		keys := []string{"region", "zone", "site"}
		for _, key := range keys[:1+r.IntN(3)] {
			policy.Spec.Spread = append(policy.Spec.Spread, Spread{
				Key: key, MaxSkew: 1 + r.IntN(3), WhenUnsatisfiable: Unsatisfiables[r.IntN(2)],
			})
		}
		var kept []string
		for i := range 1 + r.IntN(30) {
			ct := ClusterType{
				Name: fmt.Sprintf("c%02d", i), Labels: map[string]string{},
				Properties: map[string]string{"cost": fmt.Sprint(r.IntN(4))},
			}
			for n, key := range keys {
				if r.IntN(8) > 0 {
					ct.Labels[key] = fmt.Sprint(r.IntN([]int{2, 5, 30}[n]))
				}
			}
			if r.IntN(6) == 0 {
				kept = append(kept, ct.Name)
			}
			f.ClusterTypes = append(f.ClusterTypes, ct)
			policy.ClusterTypes = append(policy.ClusterTypes, i)
		}
		f.Policies = []Policy{policy}
		f.Prior.Decisions = Decisions{"p": {Targets: map[string][]string{"t": kept}}}

		p := newPass(f)
		p.trace = func(d *choice, got []int32) {
			if want := d.fillOneByOne(); len(d.kept) < *policy.Spec.Number && !slices.Equal(got, want) {
				t.Fatalf("seed %d: %v kept, %+v: chose %v, want %v", seed, d.kept, *policy.Spec, got, want)
			}
		}
		p.policy(t.Context(), 0)
	}
}

// fillOneByOne chooses cluster types as the rule is documented: each time, it compares all cluster types that are left.
func (d *choice) fillOneByOne() []int32 {
	chosen, rest := slices.Clone(d.kept), slices.Clone(d.ordered())
	for len(chosen) < d.chooser.policy.Spec.number() {
		best, least := int32(-1), 0
		for _, s := range d.chooser.spreads {
			s.start(chosen)
		}
		for _, i := range rest {
			cost := 0
			for _, s := range d.chooser.spreads {
				if s.of[i] >= 0 {
					cost += s.costOf(s.of[i])
				}
			}
			if !slices.Contains(chosen, i) && cost < hardPenalty/2 && (best < 0 || cost < least) {
				best, least = i, cost
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, best)
	}
	slices.Sort(chosen)
	return chosen
}

// doneAfter is a context that is done after a number of checks.
type doneAfter struct {
	context.Context
	checks int // the number of checks that are left
}

func (c *doneAfter) Err() error {
	c.checks--
	if c.checks < 0 {
		return context.Canceled
	}
	return nil
}

// TestDecideStops cancels the context of a pass in the middle of its only decision.
func TestDecideStops(t *testing.T) {
	f := &Fleet{Targets: []string{"t"}, Policies: []Policy{
		{Name: "p", Targets: []int{0}, Spec: &Spec{Number: new(500), Spread: []Spread{{Key: "site"}}}},
	}}
	for i := range 500 {
		f.ClusterTypes = append(f.ClusterTypes, ClusterType{
			Name: fmt.Sprintf("c%03d", i), Labels: map[string]string{"site": fmt.Sprint(i)},
		})
		f.Policies[0].ClusterTypes = append(f.Policies[0].ClusterTypes, i)
	}
	ctx := &doneAfter{t.Context(), 100}
	Decide(ctx, f).Each(0, func(_ int, chosen []int32) { t.Errorf("decided on %d cluster types", len(chosen)) })
	if ctx.checks > -1 || ctx.checks < -10 {
		t.Errorf("the context was checked %d times after it was done", -ctx.checks)
	}
}
