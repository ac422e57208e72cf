package schedule_test

import (
	"fmt"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
)

// placedFleet returns a fleet with 5,000 deployment targets of 10 policies, each on 20 cluster types: 100,000
// assignments. If number is set, each policy chooses 20 of 40 cluster types.
func placedFleet(number bool) *fleet.Fleet {
	f := &fleet.Fleet{Environment: "dev"}
	clusterTypes := 20
	if number {
		clusterTypes *= 2
	}
	for i := range clusterTypes {
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
			Meta:       fleet.Meta{Name: fmt.Sprintf("ct-%03d", i), Labels: map[string]string{"region": fmt.Sprint(i % 4)}},
			Properties: map[string]string{"cost": fmt.Sprint(i * 7 % 11)},
		})
	}
	for i := range 10 {
		team := map[string]string{"team": fmt.Sprint(i)}
		p := &fleet.SchedulingPolicy{
			Meta: fleet.Meta{Name: fmt.Sprint("policy-", i)}, DeploymentTargets: fleet.Selector{MatchLabels: team},
		}
		if number {
			p.Placement = &placement.Spec{
				Number: new(20), Prefer: []placement.Preference{{Property: "cost", Weight: -2}},
			}
		}
		f.Policies = append(f.Policies, p)
		for n := range 500 {
			f.Workloads = append(f.Workloads, &fleet.Workload{
				Meta:    fleet.Meta{Name: fmt.Sprintf("app-%d-%03d", i, n), Labels: team},
				Targets: []fleet.Target{{Name: "web", Environment: "dev"}},
			})
		}
	}
	return f
}

// BenchmarkPlacement schedules 100,000 assignments: without a number of cluster types, with a number, and with a number
// and earlier decisions.
func BenchmarkPlacement(b *testing.B) {
	kept := placedFleet(true)
	first, _ := schedule.New(b.Context(), kept, placement.PriorResults{})
	for _, c := range []struct {
		name  string
		fleet *fleet.Fleet
		prior placement.Decisions
	}{{"without", placedFleet(false), nil}, {"number", placedFleet(true), nil}, {"kept", kept, first.Decisions()}} {
		b.Run(c.name, func(b *testing.B) {
			prior := placement.PriorResults{Decisions: c.prior}
			for b.Loop() {
				if s, ps := schedule.New(b.Context(), c.fleet, prior); s.AssignmentCount != 100_000 || len(ps) > 0 {
					b.Fatalf("%d assignments, %v", s.AssignmentCount, ps)
				}
			}
		})
	}
}

// BenchmarkSpread places 20 deployment targets on all and on half of 5,000 cluster types, with a number, balance, and
// two spreads, of which one has 5,000 values.
func BenchmarkSpread(b *testing.B) {
	f := &fleet.Fleet{Environment: "dev"}
	for i := range 5000 {
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{Meta: fleet.Meta{
			Name: fmt.Sprintf("ct-%04d", i), Labels: map[string]string{"region": fmt.Sprint(i / 500), "site": fmt.Sprint(i)},
		}})
	}
	for i := range 20 {
		f.Workloads = append(f.Workloads, &fleet.Workload{
			Meta: fleet.Meta{Name: fmt.Sprintf("app-%02d", i)}, Targets: []fleet.Target{{Name: "web", Environment: "dev"}},
		})
	}
	for name, number := range map[string]int{"all": 5000, "half": 2500} {
		f.Policies = []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "spread"}, Placement: &placement.Spec{
			Number: &number,
			Prefer: []placement.Preference{{Balance: true, Weight: 1}},
			Spread: []placement.Spread{{Key: "region"}, {Key: "site"}},
		}}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, ps := schedule.New(b.Context(), f, placement.PriorResults{})
				if s.AssignmentCount != 20*number || len(ps) > 0 {
					b.Fatalf("%d assignments, %v", s.AssignmentCount, ps)
				}
			}
		})
	}
}
