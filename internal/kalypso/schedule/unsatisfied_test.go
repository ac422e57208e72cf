package schedule_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestLostTargets: the error about targets that no longer fit any cluster type gives the reason for each cluster type,
// and advice only for these reasons.
func TestLostTargets(t *testing.T) {
	taint := placement.Taint{Key: "pci", Value: "true", Effect: placement.NoSelect}
	one := 1
	const untaint, rename, label = "Remove the taint, or tolerate it in tolerations.",
		"Name an existing cluster type in placement.", "Label a cluster type so that cluster_type_selector selects it."
	for _, tt := range []struct {
		name   string
		change func(*fleet.Fleet)
		why    []string
		advice []string
	}{
		{"a taint", func(f *fleet.Fleet) {
			f.ClusterTypes[0].Taints, f.ClusterTypes[1].Taints = []placement.Taint{taint},
				[]placement.Taint{taint}
		}, []string{"east, west: the taint pci=true:NoSelect is not tolerated"}, []string{untaint}},
		{"names", func(f *fleet.Fleet) { f.Policies[0].Placement.Names = []string{"north"} },
			[]string{"east, west: placement names other cluster types"}, []string{rename}},
		{"names and a taint", func(f *fleet.Fleet) {
			f.Policies[0].Placement.Names = []string{"east"}
			f.ClusterTypes[0].Taints = []placement.Taint{taint}
		}, []string{"east: the taint", "west: placement names other"}, []string{untaint, rename}},
		{"labels", func(f *fleet.Fleet) { f.Policies[0].ClusterTypes.MatchLabels = map[string]string{"region": "north"} },
			[]string{"the selector selects no other cluster type"}, []string{label}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fleet.Fleet{
				Environment:  "dev",
				ClusterTypes: []*fleet.ClusterType{clusterType("east", "e"), clusterType("west", "w")},
				Policies:     []*fleet.SchedulingPolicy{policyOf("a", &placement.Spec{Number: &one})},
				Workloads:    []*fleet.Workload{workload("shop", "a")},
			}
			tt.change(f)
			s, ps := schedule.New(t.Context(), f,
				placement.PriorResults{Placed: map[string][]string{"shop-web": {"east"}}})
			if len(ps) > 0 {
				t.Fatal(ps)
			}
			text := s.CheckUnsatisfied(t.Context(), f, problem.Warn).Err()
			if text == nil {
				t.Fatal("there is no error")
			}
			for _, want := range append(tt.why, tt.advice...) {
				if !strings.Contains(text.Error(), want) {
					t.Errorf("no %q in\n%v", want, text)
				}
			}
			for _, advice := range []string{untaint, rename, label, "spread"} {
				given := false
				for _, want := range tt.advice {
					given = given || want == advice
				}
				if strings.Contains(text.Error(), advice) != given {
					t.Errorf("advice %q: %v", advice, text)
				}
			}
		})
	}
}
