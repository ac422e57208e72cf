package main

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
)

// scheduling measures on one core how much longer a schedule of 100,000 assignments takes if policies have a number. It
// places 5,000 deployment targets on 20 cluster types each; with a number, these are chosen from 40. It also measures
// the choice for 20 deployment targets among 5,000 cluster types, with a number, spread and balance.
func (b *bench) scheduling() {
	defer onOneCore()()
	kept := placedFleet(true)
	first, problems := schedule.New(context.Background(), kept)
	check(problems.Err())
	kept.PriorPlacement.Decisions = first.Decisions()
	fleets := []struct {
		name, what string
		fleet      *fleet.Fleet
	}{
		{"all", "schedule 100,000 assignments", placedFleet(false)},
		{"number", "the same with a number on all policies", placedFleet(true)},
		{"kept", "the same with the decisions of the last run", kept},
	}
	for range b.runs { // in turns, as the machine's load changes
		for _, f := range fleets {
			b.measure("schedule/"+f.name, func() sample { return schedules(f.fleet, 100_000) })
		}
	}
	all := b.median("schedule/all")
	for _, f := range fleets {
		took := b.median("schedule/" + f.name)
		r := row{what: f.what, measured: took}
		if f.name != "all" {
			r.against, r.bound = seconds(all.time), "1.5"
			r.ratio = ratio(took, all)
		}
		b.add(r)
	}
	b.spreading()
}

func (b *bench) spreading() {
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
			b.measure("spread/"+c.name, func() sample { return schedules(f, 20*c.number) })
		}
		b.add(row{what: c.what, measured: b.median("spread/" + c.name), bound: "5 s"})
	}
}

func schedules(f *fleet.Fleet, assignments int) sample {
	return timed(func() {
		s, problems := schedule.New(context.Background(), f)
		check(problems.Err())
		expect("the number of assignments", s.AssignmentCount, assignments)
	})
}

// placedFleet returns a fleet of 10 policies, each with 500 deployment targets on 20 cluster types. If number is set,
// each policy chooses 20 of 40 cluster types.
func placedFleet(number bool) *fleet.Fleet {
	f := &fleet.Fleet{Environment: "dev"}
	clusterTypes := 20
	if number {
		clusterTypes *= 2
	}
	for i := range clusterTypes {
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
			Meta: fleet.Meta{Name: fmt.Sprintf("ct-%03d", i)}, Properties: map[string]string{"cost": fmt.Sprint(i * 7 % 11)},
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
