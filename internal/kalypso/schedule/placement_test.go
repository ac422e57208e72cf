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

// fleetAfter is a fleet with the decisions of an earlier run.
type fleetAfter struct {
	*fleet.Fleet
	PriorPlacement placement.PriorResults
}

// scheduled returns the cluster types of each deployment target, and under "?" the undecided cluster types.
func scheduled(t *testing.T, f *fleetAfter) map[string][]string {
	t.Helper()
	s, ps := schedule.New(t.Context(), f.Fleet, f.PriorPlacement)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	all := map[string][]string{}
	for _, p := range s.Placements {
		if p.Undecided {
			all["?"] = append(all["?"], p.ClusterType.Name)
		}
		for _, a := range p.Assignments {
			all[a.Target.Name] = append(all[a.Target.Name], p.ClusterType.Name)
		}
	}
	return all
}

func clusterType(name, region string, taints ...placement.Taint) *fleet.ClusterType {
	return &fleet.ClusterType{
		Meta: fleet.Meta{Name: name, Labels: map[string]string{"region": region}}, Taints: taints,
		Properties: map[string]string{"cost": "1"},
	}
}

func workload(name, team string) *fleet.Workload {
	return &fleet.Workload{
		Meta:    fleet.Meta{Name: name, Labels: map[string]string{"team": team}},
		Targets: []fleet.Target{{Name: "web", Environment: "dev"}},
	}
}

func policyOf(team string, s *placement.Spec) *fleet.SchedulingPolicy {
	return &fleet.SchedulingPolicy{
		Meta: fleet.Meta{Name: "policy-" + team}, Placement: s,
		DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"team": team}},
	}
}

// TestPlacementOfPolicies schedules fleets with taints, numbers of cluster types, earlier decisions and unknown values.
func TestPlacementOfPolicies(t *testing.T) {
	taint := placement.Taint{Key: "pci", Value: "true", Effect: placement.NoSelect}
	unknownTaint := placement.Taint{Key: "pci", Value: unknown.Text, Effect: placement.NoSelect}
	for name, c := range map[string]struct {
		change func(f *fleetAfter)
		want   map[string][]string
	}{
		"no rules": {func(*fleetAfter) {}, map[string][]string{"x-web": {"a", "b", "c"}, "y-web": {"a", "b", "c"}}},
		"a taint that no policy tolerates": {
			func(f *fleetAfter) { f.ClusterTypes[0].Taints = []placement.Taint{taint} },
			map[string][]string{"x-web": {"b", "c"}, "y-web": {"b", "c"}},
		},
		"a taint that one policy tolerates": {
			func(f *fleetAfter) {
				f.ClusterTypes[0].Taints = []placement.Taint{taint}
				f.Policies[0].Placement = &placement.Spec{Tolerations: []placement.Toleration{{Operator: placement.Exists}}}
			},
			map[string][]string{"x-web": {"a", "b", "c"}, "y-web": {"b", "c"}},
		},
		"a taint for new targets only": {
			func(f *fleetAfter) {
				f.ClusterTypes[0].Taints = []placement.Taint{{Key: "old", Effect: placement.NoSelectIfNew}}
				f.PriorPlacement.Placed = map[string][]string{"x-web": {"a"}}
			},
			map[string][]string{"x-web": {"a", "b", "c"}, "y-web": {"b", "c"}},
		},
		"a number": {
			func(f *fleetAfter) { f.Policies[0].Placement = &placement.Spec{Number: new(1)} },
			map[string][]string{"x-web": {"a"}, "y-web": {"a", "b", "c"}},
		},
		"a number and an earlier decision": {
			func(f *fleetAfter) {
				f.Policies[0].Placement = &placement.Spec{Number: new(1)}
				f.PriorPlacement.Decisions = placement.Decisions{"policy-x": {Targets: map[string][]string{"x-web": {"c"}}}}
			},
			map[string][]string{"x-web": {"c"}, "y-web": {"a", "b", "c"}},
		},
		"balance": {
			func(f *fleetAfter) {
				for _, p := range f.Policies {
					p.Placement = &placement.Spec{Number: new(1), Prefer: []placement.Preference{{Balance: true, Weight: 1}}}
				}
			},
			map[string][]string{"x-web": {"a"}, "y-web": {"b"}},
		},
		"an unknown taint that may concern all policies": {
			func(f *fleetAfter) { f.ClusterTypes[0].Taints = []placement.Taint{unknownTaint} },
			map[string][]string{"?": {"a"}, "x-web": {"b", "c"}, "y-web": {"b", "c"}},
		},
		"an unknown taint that all policies tolerate": {
			func(f *fleetAfter) {
				f.ClusterTypes[0].Taints = []placement.Taint{unknownTaint}
				for _, p := range f.Policies {
					p.Placement = &placement.Spec{Tolerations: []placement.Toleration{{Operator: placement.Exists}}}
				}
			},
			map[string][]string{"x-web": {"a", "b", "c"}, "y-web": {"a", "b", "c"}},
		},
		"an unknown taint and an unknown toleration": {
			func(f *fleetAfter) {
				f.ClusterTypes[0].Taints = []placement.Taint{unknownTaint}
				f.Policies[0].Placement = &placement.Spec{
					Tolerations: []placement.Toleration{{Key: "pci", Value: unknown.Text}}, Names: []string{"a", "b"},
				}
				f.Policies[1].Placement = &placement.Spec{Names: []string{"c"}}
			},
			map[string][]string{"?": {"a"}, "x-web": {"b"}, "y-web": {"c"}},
		},
		"an unknown taint, and a policy with a number": {
			func(f *fleetAfter) {
				f.ClusterTypes[0].Taints = []placement.Taint{unknownTaint}
				f.Policies[0].Placement = &placement.Spec{Number: new(1), Names: []string{"a", "b"}}
				f.Policies[1].Placement = &placement.Spec{Number: new(1), Names: []string{"c"}}
			},
			map[string][]string{"?": {"a", "b"}, "y-web": {"c"}},
		},
		"an unknown property that one policy reads": {
			func(f *fleetAfter) {
				f.ClusterTypes[0].Properties["cost"] = unknown.Text
				f.Policies[0].Placement = &placement.Spec{
					Number: new(1), Names: []string{"a", "b"}, Prefer: []placement.Preference{{Property: "cost", Weight: 1}},
				}
				f.Policies[1].Placement = &placement.Spec{Number: new(1), Names: []string{"c"}}
			},
			map[string][]string{"?": {"a", "b"}, "y-web": {"c"}},
		},
		"an unknown property that no rule reads": {
			func(f *fleetAfter) {
				f.ClusterTypes[0].Properties["cost"] = unknown.Text
				f.Policies[0].Placement = &placement.Spec{Number: new(1)}
			},
			map[string][]string{"x-web": {"a"}, "y-web": {"a", "b", "c"}},
		},
		"an unknown property, and another policy that balances": {
			func(f *fleetAfter) {
				f.ClusterTypes[0].Properties["cost"] = unknown.Text
				f.Policies[0].Placement = &placement.Spec{
					Number: new(1), Names: []string{"a", "b"}, Prefer: []placement.Preference{{Property: "cost", Weight: 1}},
				}
				f.Policies[1].Placement = &placement.Spec{
					Number: new(1), Names: []string{"c"}, Prefer: []placement.Preference{{Balance: true, Weight: 1}},
				}
			},
			map[string][]string{"?": {"a", "b", "c"}},
		},
		"an unknown label that a policy spreads over": {
			func(f *fleetAfter) {
				f.ClusterTypes[2].Labels["region"] = unknown.Text
				f.Policies[0].Placement = &placement.Spec{
					Number: new(1), Names: []string{"b", "c"}, Spread: []placement.Spread{{Key: "region", MaxSkew: 1}},
				}
				f.Policies[1].Placement = &placement.Spec{Names: []string{"a"}}
			},
			map[string][]string{"?": {"b", "c"}, "y-web": {"a"}},
		},
		"unknown names": {
			func(f *fleetAfter) {
				f.Policies[0].Placement = &placement.Spec{Names: []string{unknown.Text}}
				f.Policies[1].Placement = &placement.Spec{Names: []string{"a"}}
			},
			map[string][]string{"?": {"a", "b", "c"}},
		},
		"an unknown number": {
			func(f *fleetAfter) { f.Policies[0].Placement = &placement.Spec{Number: new(unknown.Number)} },
			map[string][]string{"?": {"a", "b", "c"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fleetAfter{Fleet: &fleet.Fleet{
				Environment:  "dev",
				ClusterTypes: []*fleet.ClusterType{clusterType("a", "1"), clusterType("b", "1"), clusterType("c", "2")},
				Policies:     []*fleet.SchedulingPolicy{policyOf("x", nil), policyOf("y", nil)},
				Workloads:    []*fleet.Workload{workload("x", "x"), workload("y", "y")},
			}}
			c.change(f)
			known := len(schedule.UnknownInputs(f.Fleet)) == 0
			got := scheduled(t, f)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, undecided := c.want["?"]; undecided && known {
				t.Error("UnknownInputs lists no input")
			}
		})
	}
}

// TestPlacementIgnoresOrder schedules random fleets with their objects in several orders.
func TestPlacementIgnoresOrder(t *testing.T) {
	for seed := range seeds.Of(t, 100, 300) {
		r := rand.New(rand.NewPCG(seed, 7))
		f := randomFleet(r)
		want, _ := schedule.New(t.Context(), f, placement.PriorResults{})
		shuffle(r, f.ClusterTypes)
		shuffle(r, f.Policies)
		shuffle(r, f.Workloads)
		got, _ := schedule.New(t.Context(), f, placement.PriorResults{})
		if diff := cmp.Diff(want.Decisions(), got.Decisions()); diff != "" {
			t.Fatalf("seed %d: decisions (-want +got):\n%s", seed, diff)
		}
		if want.AssignmentCount != got.AssignmentCount {
			t.Fatalf("seed %d: %d assignments, then %d", seed, want.AssignmentCount, got.AssignmentCount)
		}
	}
}

func shuffle[E any](r *rand.Rand, all []E) {
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

func randomFleet(r *rand.Rand) *fleet.Fleet {
	f := &fleet.Fleet{Environment: "dev"}
	for i := range 2 + r.IntN(6) {
		ct := clusterType(fmt.Sprint("c", i), fmt.Sprint(r.IntN(3)))
		ct.Properties["cost"] = fmt.Sprint(r.IntN(4))
		if r.IntN(4) == 0 {
			ct.Taints = []placement.Taint{{Key: "k", Effect: placement.Effects[r.IntN(2)]}}
		}
		f.ClusterTypes = append(f.ClusterTypes, ct)
	}
	for i := range 1 + r.IntN(4) {
		s := &placement.Spec{Number: new(1 + r.IntN(3))}
		s.Prefer = slices.DeleteFunc([]placement.Preference{
			{Property: "cost", Weight: r.IntN(5) - 2}, {Balance: true, Weight: 1 + r.IntN(2)},
		}, func(placement.Preference) bool { return r.IntN(2) == 0 })
		if r.IntN(2) == 0 {
			s.Spread = []placement.Spread{{Key: "region", MaxSkew: 1}}
		}
		f.Policies = append(f.Policies, policyOf(fmt.Sprint(i), s))
		for n := range r.IntN(4) {
			f.Workloads = append(f.Workloads, workload(fmt.Sprintf("w%d-%d", i, n), fmt.Sprint(i)))
		}
	}
	return f
}
