package main

import (
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// withRequirements returns the fleet with requirements. Each deployment target requires five targets of other workloads
// on the same cluster types, whose names come before its own. The requirements name a workload, a target, or a label in
// turn.
func withRequirements(f *fleet.Fleet, t *tree.Tree) *fleet.Fleet {
	on := map[string]string{}
	for i, p := range t.Schedule.Placements {
		for _, a := range p.Assignments {
			on[a.Target.Name] += fmt.Sprint(i, " ")
		}
	}
	requires := map[string][]fleet.Requirement{}
	before := map[string][]*fleet.DeploymentTarget{}
	for _, target := range t.Schedule.Targets {
		key := on[target.Name]
		for n, other := range slices.Backward(before[key]) {
			if other.Workload == target.Workload || len(requires[target.Name]) == 5 {
				continue
			}
			r := fleet.Requirement{Workload: other.Workload.Name}
			switch n % 3 {
			case 1:
				r.DeploymentTarget = other.Name[len(r.Workload)+1:]
			case 2:
				r = fleet.Requirement{MatchLabels: map[string]string{fleet.WorkloadLabel: other.Workload.Name}}
			}
			requires[target.Name] = append(requires[target.Name], r)
		}
		before[key] = append(before[key], target)
	}
	with := *f
	with.Requires = problem.Fail
	with.Workloads = nil
	for _, w := range f.Workloads {
		other := *w
		other.Targets = append([]fleet.Target(nil), w.Targets...)
		for i := range other.Targets {
			if target := &other.Targets[i]; target.Environment == f.Environment {
				target.Requires = requires[w.Name+"-"+target.Name]
			}
		}
		with.Workloads = append(with.Workloads, &other)
	}
	return &with
}
