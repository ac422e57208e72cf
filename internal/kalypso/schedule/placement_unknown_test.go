package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// input is an input of placement that may be unknown.
type input struct {
	name    string
	unknown func()
	// values sets the input to one of the values that it may get.
	values []func()
}

// inputOf returns an input whose value is stored at the address at.
func inputOf[T any](name string, at *T, unknown T, values ...T) input {
	in := input{name: name, unknown: func() { *at = unknown }}
	for _, v := range values {
		in.values = append(in.values, func() { *at = v })
	}
	return in
}

// placementInputs returns the inputs of a fleet's placement, in the same order for equal fleets.
func placementInputs(f *fleet.Fleet) (all []input) {
	const u = unknown.Text
	for _, ct := range f.ClusterTypes {
		all = append(all,
			inputOf(ct.Name+".taints", &ct.Taints, []placement.Taint{{Key: u, Value: u, Effect: u}}, nil,
				[]placement.Taint{{Key: "k", Effect: placement.NoSelect}},
				[]placement.Taint{{Key: "k", Value: "v", Effect: placement.NoSelectIfNew}}),
			inputOf(ct.Name+".taints[0]", &ct.Taints, []placement.Taint{{Key: "k", Value: u, Effect: placement.NoSelect}},
				[]placement.Taint{{Key: "k", Effect: placement.NoSelect}},
				[]placement.Taint{{Key: "k", Value: "v", Effect: placement.NoSelect}}),
			inputOf(ct.Name+".properties", &ct.Properties, map[string]string{u: u}, nil, map[string]string{"cost": "2"}),
			inputOf(ct.Name+".cost", &ct.Properties, map[string]string{"cost": u}, map[string]string{"cost": "0"},
				map[string]string{"cost": "9"}),
			inputOf(ct.Name+".labels", &ct.Labels, map[string]string{u: u}, nil, map[string]string{"region": "1"}),
			inputOf(ct.Name+".region", &ct.Labels, map[string]string{"region": u}, map[string]string{"region": "0"},
				map[string]string{"region": "9"}),
		)
	}
	for _, p := range f.Policies {
		s := p.Placement
		all = append(all,
			inputOf(p.Name+".number", &s.Number, new(unknown.Number), nil, new(1), new(3)),
			inputOf(p.Name+".names", &s.Names, []string{u}, nil, []string{}, []string{"c0"}, []string{"c1", "c2"}),
			inputOf(p.Name+".names[0]", &s.Names, []string{u, "c1"}, []string{"c0", "c1"}, []string{"c2", "c1"}),
			inputOf(p.Name+".tolerations", &s.Tolerations, []placement.Toleration{{Key: u, Operator: u, Value: u, Effect: u}},
				nil, []placement.Toleration{{Operator: placement.Exists}}, []placement.Toleration{{Key: "k", Value: "v"}}),
			inputOf(p.Name+".tolerations[0]", &s.Tolerations, []placement.Toleration{{Key: "k", Value: u}},
				[]placement.Toleration{{Key: "k"}}, []placement.Toleration{{Key: "k", Value: "v"}}),
			inputOf(p.Name+".prefer", &s.Prefer, []placement.Preference{{Property: u, Weight: unknown.Number}}, nil,
				[]placement.Preference{{Balance: true, Weight: 1}}, []placement.Preference{{Property: "cost", Weight: 1}}),
			inputOf(p.Name+".weight", &s.Prefer, []placement.Preference{{Property: "cost", Weight: unknown.Number}},
				[]placement.Preference{{Property: "cost", Weight: 1}}, []placement.Preference{{Property: "cost", Weight: -1}}),
			inputOf(p.Name+".spread", &s.Spread,
				[]placement.Spread{{Key: u, MaxSkew: unknown.Number, WhenUnsatisfiable: u}}, nil,
				[]placement.Spread{{Key: "region", MaxSkew: 1}},
				[]placement.Spread{{Key: "region", MaxSkew: 1, WhenUnsatisfiable: placement.ScheduleAnyway}}),
			inputOf(p.Name+".name", &p.Name, u, p.Name, "other"),
			inputOf(p.Name+".generation", &s.Generation, u, "", "2"),
			inputOf(p.Name+".selector", &p.DeploymentTargets.MatchLabels, map[string]string{"team": u},
				map[string]string{"team": "0"}, map[string]string{"team": "1"}),
		)
	}
	for _, w := range f.Workloads {
		all = append(all, inputOf(w.Name+".team", &w.Labels, map[string]string{"team": u}, map[string]string{"team": "0"},
			map[string]string{"team": "1"}))
	}
	return all
}

// fleetWithHistory returns a random fleet, usually with the decisions of an earlier pass over a similar fleet. The same
// seed gives the same fleet.
func fleetWithHistory(t *testing.T, seed uint64) *fleetAfter {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 20))
	build := func() *fleet.Fleet {
		f := randomFleet(rand.New(rand.NewPCG(seed, 21)))
		for _, p := range f.Policies {
			if r.IntN(3) == 0 {
				p.Placement.Number = nil
			}
			p.Placement.Names = [][]string{nil, {"c0"}, {"c0", "c1"}, {"c1", "c2"}}[r.IntN(4)]
		}
		return f
	}
	before := build()
	for _, in := range placementInputs(before) {
		if r.IntN(6) == 0 {
			in.values[r.IntN(len(in.values))]()
		}
	}
	s, _ := schedule.New(t.Context(), before, placement.PriorResults{})
	f := build()
	if r.IntN(4) == 0 {
		return &fleetAfter{Fleet: f}
	}
	var prior placement.PriorResults
	prior.Decisions, prior.Placed = s.Decisions(), map[string][]string{}
	for _, p := range s.Placements {
		for _, a := range p.Assignments {
			prior.Placed[a.Target.Name] = append(prior.Placed[a.Target.Name], p.ClusterType.Name)
		}
	}
	for _, p := range f.Policies {
		if r.IntN(4) == 0 {
			delete(prior.Decisions, p.Name)
		}
	}
	return &fleetAfter{f, prior}
}

// TestDecidedPlacementsOfUnknownInputs schedules random fleets with unknown inputs, as in a plan, and again with
// possible values, as in an apply. Everything that the plan decided must be the same in the apply.
func TestDecidedPlacementsOfUnknownInputs(t *testing.T) {
	t.Parallel()
	compared, decided, known := 0, 0, 0
	for seed := range seeds.Of(t, 300, 4000) {
		r := rand.New(rand.NewPCG(seed, 22))
		f := fleetWithHistory(t, seed)
		inputs := placementInputs(f.Fleet)
		var chosen []int
		var names []string
		for range 1 + r.IntN(3) {
			i := r.IntN(len(inputs))
			chosen, names = append(chosen, i), append(names, inputs[i].name)
			inputs[i].unknown()
		}
		planned, _ := schedule.New(t.Context(), f.Fleet, f.PriorPlacement)
		for range 4 {
			g := fleetWithHistory(t, seed)
			inputs := placementInputs(g.Fleet)
			for _, i := range chosen {
				inputs[i].values[r.IntN(len(inputs[i].values))]()
			}
			actual, _ := schedule.New(t.Context(), g.Fleet, g.PriorPlacement)
			for i, p := range planned.Placements {
				if p.Undecided {
					continue
				}
				decided++
				if diff := cmp.Diff(targetsOf(p), targetsOf(actual.Placements[i])); diff != "" {
					t.Fatalf("seed %d, unknown %v: targets of %s (-planned +actual):\n%s", seed, names, p.ClusterType.Name, diff)
				}
			}
			for _, target := range planned.Unscheduled {
				if !slices.ContainsFunc(actual.Unscheduled, func(t *fleet.DeploymentTarget) bool { return t.Name == target.Name }) {
					t.Fatalf("seed %d, unknown %v: the plan places %s nowhere, but the apply places it", seed, names, target.Name)
				}
			}
			if planned.DecisionsKnown() {
				known++
				if diff := cmp.Diff(planned.Decisions(), actual.Decisions()); diff != "" {
					t.Fatalf("seed %d, unknown %v: decisions (-planned +actual):\n%s", seed, names, diff)
				}
			}
			compared++
		}
	}
	t.Logf("%d comparisons, %d cluster types and %d decisions known", compared, decided, known)
	if !seeds.Single() && (decided < compared/2 || known < compared/10) {
		t.Error("the plans decide too little to test them")
	}
}

func targetsOf(p schedule.Placement) []string {
	names := []string{}
	for _, a := range p.Assignments {
		names = append(names, fmt.Sprint(a.Target.Name))
	}
	return names
}
