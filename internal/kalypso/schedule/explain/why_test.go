package explain_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestExplainPair checks the answer for a deployment target and a cluster type: which policies place it there, or why
// none does.
func TestExplainPair(t *testing.T) {
	gold := "labelSelector: {matchLabels: {tier: gold}}"
	east := "labelSelector: {matchLabels: {region: east}}"
	for _, tt := range []struct {
		name  string
		fleet []string
		want  []string // the answer, and each of the nearest policies
	}{
		{"no policy", nil, []string{"There is no scheduling policy."}},
		{"placed there by two policies", []string{schedulingPolicy("b", "", ""), schedulingPolicy("a", "", ""),
			schedulingPolicy("c", gold, "")},
			[]string{`It is placed there by "a", "b".`}},
		{"placed on another cluster type", []string{schedulingPolicy("east", "", east),
			schedulingPolicy("gold", "workspace: team-a, "+gold, "")}, []string{
			`No scheduling policy places it there; the closest is "east". The cluster type is not selected: label "region" is ` +
				`"west" and must be "east".`,
			`east: The cluster type is not selected: label "region" is "west" and must be "east".`,
			`gold: The deployment target is not selected: workspace is "team-b" and must be "team-a"; label "tier" is ` +
				`"silver" and must be "gold".`,
		}},
		{"a policy selects the target, and another one the cluster type", []string{
			schedulingPolicy("gold", gold, ""),
			schedulingPolicy("east", "", "labelSelector: {matchLabels: {region: east, size: xl}}")}, []string{
			`No scheduling policy places it there; the closest is "east". The cluster type is not selected: label "region" is ` +
				`"west" and must be "east"; label "size" is missing and must be "xl".`,
			`east: The cluster type is not selected: label "region" is "west" and must be "east"; label "size" is missing and ` +
				`must be "xl".`,
			`gold: The deployment target is not selected: label "tier" is "silver" and must be "gold".`,
		}},
		{"neither target nor cluster type", []string{schedulingPolicy("p", gold, east)}, []string{
			`No scheduling policy places it there; the closest is "p". The deployment target is not selected: label "tier" is ` +
				`"silver" and must be "gold". The cluster type is not selected: label "region" is "west" and must be "east".`,
			`p: The deployment target is not selected: label "tier" is "silver" and must be "gold". The cluster type is not ` +
				`selected: label "region" is "west" and must be "east".`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, problems := engine.Explain(t.Context(), read(t, append(tt.fleet,
				clusterType("large", "region: west"), clusterType("other", "region: east"), target("team-b", "tier: silver"))...),
				placement.PriorResults{})
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			answer, err := e.Explain("app-test", "large")
			if err != nil {
				t.Fatal(err)
			}
			got := []string{answer.Reason}
			for _, r := range answer.Nearest {
				got = append(got, r.Policy.Name+": "+r.Reason)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if _, err := e.Explain("app", "large"); !errors.Is(err, explain.ErrNoTarget) {
				t.Errorf("a target that does not exist: %v", err)
			}
			if _, err := e.Explain("app-test", "huge"); !errors.Is(err, explain.ErrNoClusterType) {
				t.Errorf("a cluster type that does not exist: %v", err)
			}
		})
	}
}

// TestExplainPairsOfRandomFleets compares the answer for every deployment target and cluster type of random fleets with
// the schedule.
func TestExplainPairsOfRandomFleets(t *testing.T) {
	fleets, there, not := 0, 0, 0
	for seed := range seeds.Of(t, 100, 300) {
		fleets++
		f := randomFleet(rand.New(rand.NewPCG(seed, 3)))
		for i := range 2 * explain.MaxNearest { // policies that place nothing
			f.Policies = append(f.Policies, &fleet.SchedulingPolicy{
				Meta: fleet.Meta{
					Name: fmt.Sprint("q", i),
				},
				DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"none": "x"}},
			})
		}
		e, problems := engine.Explain(t.Context(), f, placement.PriorResults{})
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		for i, p := range e.Schedule.Placements {
			for _, target := range e.Schedule.Targets {
				answer, err := e.Explain(target.Name, p.ClusterType.Name)
				if err != nil {
					t.Fatal(err)
				}
				var placedBy []*fleet.SchedulingPolicy
				for _, a := range e.Schedule.Placements[i].Assignments {
					if a.Target == target {
						placedBy = a.Policies
					}
				}
				if !slices.Equal(placedBy, answer.Policies) {
					t.Errorf(
						"seed %d: %s on %s is placed by %d policies, but the answer has %d",
						seed,
						target.Name,
						p.ClusterType.Name,
						len(placedBy),
						len(answer.Policies),
					)
				}
				if nearest := len(answer.Nearest); nearest > explain.MaxNearest || (nearest == 0) != (len(placedBy) > 0) {
					t.Errorf("seed %d: %d nearest policies, and %d that place the target", seed, nearest, len(placedBy))
				}
				if len(placedBy) > 0 {
					there++
				} else {
					not++
				}
			}
		}
	}
	if !seeds.Single() && (there < fleets/3 || not < fleets/3) {
		t.Errorf("the fleets have only %d pairs that are placed and %d that are not", there, not)
	}
}
