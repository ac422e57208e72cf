package main

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
)

// scheduling measures on one core the choice for 20 deployment targets among 5,000 cluster types, with a number, spread
// and balance.
func (b *bench) scheduling() {
	defer onOneCore()()
	for _, c := range []struct {
		name, what string
		number     int
	}{
		{"all", "place 20 deployment targets on all of 5,000 cluster types, with a number, balance, and two spreads " +
			"of which one has 5,000 values", 5000},
		{"half", "the same on half of them", 2500},
	} {
		f := spreadFleet(c.number)
		for range b.runs {
			b.measure("spread/"+c.name, func() sample {
				return timed(func() {
					s, problems := schedule.New(context.Background(), f)
					check(problems.Err())
					expect("the number of assignments", s.AssignmentCount, 20*c.number)
				})
			})
		}
		b.add(row{what: c.what, measured: b.median("spread/" + c.name), bound: "5 s"})
	}
}

// spreadFleet returns a fleet of 20 deployment targets. One policy places each of them on a number of the 5,000 cluster
// types.
func spreadFleet(number int) *fleet.Fleet {
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
	f.Policies = []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "spread"}, Placement: &placement.Spec{
		Number: &number,
		Prefer: []placement.Preference{{Balance: true, Weight: 1}},
		Spread: []placement.Spread{{Key: "region"}, {Key: "site"}},
	}}}
	return f
}
