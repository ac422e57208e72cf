package schedule_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
)

// TestPolicies: an assignment lists the policies that made it, and no policies that only made other assignments.
func TestPolicies(t *testing.T) {
	selects := func(name, team string) *fleet.SchedulingPolicy {
		p := &fleet.SchedulingPolicy{Meta: fleet.Meta{Name: name}}
		p.DeploymentTargets.MatchLabels = map[string]string{"team": team}
		return p
	}
	policies := []*fleet.SchedulingPolicy{selects("a", "red"), selects("b", "blue"), selects("c", "red")}
	f := &fleet.Fleet{
		Environment:  "dev",
		ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}}, {Meta: fleet.Meta{Name: "small"}}},
		Policies:     slices.Clone(policies),
		Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "shop"}, Targets: []fleet.Target{
			{Name: "one", Environment: "dev", Labels: map[string]string{"team": "red"}},
			{Name: "two", Environment: "dev", Labels: map[string]string{"team": "blue"}},
		}}},
	}
	s, problems := schedule.New(t.Context(), f, placement.PriorResults{})
	if err := problems.Err(); err != nil || len(s.Placements) != 2 {
		t.Fatalf("%d cluster types, %v", len(s.Placements), err)
	}
	for _, p := range s.Placements {
		var got [][]string
		for _, a := range p.Assignments {
			var names []string
			for _, policy := range a.Policies {
				names = append(names, policy.Name)
			}
			got = append(got, names)
		}
		if diff := cmp.Diff([][]string{{"a", "c"}, {"b"}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.ClusterType.Name, diff)
		}
	}
	if !slices.Equal(policies, f.Policies) {
		t.Error("the policies of the fleet changed")
	}
}
