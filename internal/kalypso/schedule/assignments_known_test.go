package schedule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestPlacementsWithOneUnknownInput makes one input of a fleet unknown, and checks whether all placements are still
// decided.
func TestPlacementsWithOneUnknownInput(t *testing.T) {
	one := map[string]string{"a": unknown.Text}
	all := map[string]string{unknown.Text: unknown.Text}
	tests := []struct {
		name string
		set  func(f *fleet.Fleet)
		want bool
	}{
		{"no unknown input", func(*fleet.Fleet) {}, true},
		{"YAML", func(f *fleet.Fleet) { f.Incomplete = true }, false},
		{"environment", func(f *fleet.Fleet) { f.Environment = unknown.Text }, false},
		{"cluster type's name", func(f *fleet.Fleet) { f.ClusterTypes[0].Name = unknown.Text }, false},
		{"cluster type's label that nothing reads", func(f *fleet.Fleet) { f.ClusterTypes[0].Labels = one }, true},
		{"cluster type's labels that nothing reads", func(f *fleet.Fleet) { f.ClusterTypes[0].Labels = all }, true},
		{"cluster type's label that a policy reads", func(f *fleet.Fleet) {
			f.ClusterTypes[0].Labels, f.Policies[0].ClusterTypes.MatchLabels = one, map[string]string{"a": "b"}
		}, false},
		{"cluster type's label, while a policy reads another label", func(f *fleet.Fleet) {
			f.ClusterTypes[0].Labels, f.Policies[0].ClusterTypes.MatchLabels = one, map[string]string{"b": "b"}
		}, true},
		{"cluster type's labels, one of which a policy reads", func(f *fleet.Fleet) {
			f.ClusterTypes[0].Labels = all
			f.Policies[0].ClusterTypes.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "DoesNotExist"}}
		}, false},
		{"cluster type's label that a config selects by", func(f *fleet.Fleet) {
			f.ClusterTypes[0].Labels = one
			f.Configs = []*fleet.Config{
				{Meta: fleet.Meta{Name: "c", Labels: map[string]string{"platform-config": "true", "a": "b"}}},
			}
		}, true},
		{"cluster type's label that the key of an azure-app-config selects by", func(f *fleet.Fleet) {
			f.ClusterTypes[0].Labels = one
			f.Configs = []*fleet.Config{{Meta: fleet.Meta{Name: "azure-app-config"}, Data: map[string]string{"a.b.KEY": "1"}}}
		}, true},
		{"cluster type's label that a schema selects by", func(f *fleet.Fleet) {
			f.ClusterTypes[0].Labels = one
			f.ConfigSchemas = []*fleet.ConfigSchema{{Meta: fleet.Meta{Name: "s", Labels: map[string]string{"a": "b"}}}}
		}, true},
		{"cluster type's template", func(f *fleet.Fleet) { f.ClusterTypes[0].Reconciler = unknown.Text }, true},
		{"template", func(f *fleet.Fleet) {
			f.Templates = []*fleet.Template{{Meta: fleet.Meta{Name: unknown.Text}, Manifests: []string{unknown.Text}}}
		}, true},
		{"config", func(f *fleet.Fleet) {
			f.Configs = []*fleet.Config{{Meta: fleet.Meta{Name: unknown.Text, Labels: all}, Data: all}}
		}, true},
		{"policy's name", func(f *fleet.Fleet) { f.Policies[0].Name = unknown.Text }, true},
		{"policy's workspace", func(f *fleet.Fleet) { f.Policies[0].Workspace = unknown.Text }, false},
		{"policy's label", func(f *fleet.Fleet) { f.Policies[0].ClusterTypes.MatchLabels = one }, false},
		{"policy's labels", func(f *fleet.Fleet) { f.Policies[0].DeploymentTargets.MatchLabels = all }, false},
		{"policy's operator", func(f *fleet.Fleet) {
			f.Policies[0].DeploymentTargets.MatchExpressions = []metav1.LabelSelectorRequirement{
				{Key: "a", Operator: unknown.Text},
			}
		}, false},
		{"policy's key", func(f *fleet.Fleet) {
			f.Policies[0].ClusterTypes.MatchExpressions = []metav1.LabelSelectorRequirement{
				{Key: unknown.Text, Operator: "Exists"},
			}
		}, false},
		{"policy's values", func(f *fleet.Fleet) {
			f.Policies[0].ClusterTypes.MatchExpressions = []metav1.LabelSelectorRequirement{
				{Key: "a", Operator: "In", Values: []string{"b", unknown.Text}},
			}
		}, false},
		{"policy without targets", func(f *fleet.Fleet) { f.Policies[0].Workspace, f.Workloads = unknown.Text, nil }, true},
		{"workload's name", func(f *fleet.Fleet) { f.Workloads[0].Name = unknown.Text }, false},
		{"workload's label that nothing reads", func(f *fleet.Fleet) { f.Workloads[0].Labels["a"] = unknown.Text }, true},
		{"workload's label that a policy reads", func(f *fleet.Fleet) {
			f.Workloads[0].Labels["a"] = unknown.Text
			f.Policies[0].DeploymentTargets.MatchLabels = map[string]string{"a": "b"}
		}, false},
		{"target's name", func(f *fleet.Fleet) { f.Workloads[0].Targets[0].Name = unknown.Text }, false},
		{"target's label that nothing reads", func(f *fleet.Fleet) { f.Workloads[0].Targets[0].Labels = one }, true},
		{"target's label that a policy reads", func(f *fleet.Fleet) {
			f.Workloads[0].Targets[0].Labels = one
			f.Policies[0].DeploymentTargets.MatchLabels = map[string]string{"a": "b"}
		}, false},
		{"target's label that a policy reads, which excludes the target by another label", func(f *fleet.Fleet) {
			f.Workloads[0].Targets[0].Labels = one
			f.Policies[0].DeploymentTargets.MatchLabels = map[string]string{"a": "b", "tier": "gold"}
		}, true},
		{"target's label that only a policy without cluster types reads", func(f *fleet.Fleet) {
			f.Workloads[0].Targets[0].Labels = one
			f.Policies[0].DeploymentTargets.MatchLabels = map[string]string{"a": "b"}
			f.Policies[0].ClusterTypes.MatchLabels = map[string]string{"tier": "gold"}
		}, true},
		{"target's manifests", func(f *fleet.Fleet) { f.Workloads[0].Targets[0].Manifests = all }, true},
		{"target's environment", func(f *fleet.Fleet) { f.Workloads[0].Targets[0].Environment = unknown.Text }, false},
		{"target of another environment", func(f *fleet.Fleet) {
			f.Workloads[0].Targets[1] = fleet.Target{Name: unknown.Text, Environment: "stage", Labels: all}
		}, true},
		{"workload of another environment", func(f *fleet.Fleet) {
			f.Workloads[1] = &fleet.Workload{
				Meta:    fleet.Meta{Name: unknown.Text, Labels: all},
				Targets: []fleet.Target{{Environment: "stage"}},
			}
		}, true},
		{"all of a workload's targets", func(f *fleet.Fleet) {
			f.Workloads[0].Targets = []fleet.Target{{Name: unknown.Text, Environment: unknown.Text}}
		}, false},
		{"workspace of the workload's registration that nothing reads", func(f *fleet.Fleet) {
			f.Registrations[0].Workspace = unknown.Text
		}, true},
		{"workspace of the workload's registration that a policy reads", func(f *fleet.Fleet) {
			f.Registrations[0].Workspace, f.Policies[0].Workspace = unknown.Text, "team"
		}, false},
		{"owner of the workload, whose workspace a policy reads", func(f *fleet.Fleet) {
			f.Workloads[0].Labels[fleet.FluxOwnerLabel], f.Policies[0].Workspace = unknown.Text, "team"
		}, false},
		{"workspace of another registration", func(f *fleet.Fleet) { f.Registrations[1].Workspace = unknown.Text }, true},
		{"name of the workload's registration", func(f *fleet.Fleet) { f.Registrations[0].Name = unknown.Text }, true},
		{"name of the workload's registration, whose workspace a policy reads", func(f *fleet.Fleet) {
			f.Registrations[0].Name, f.Policies[0].Workspace = unknown.Text, "team"
		}, false},
		{"name of another registration", func(f *fleet.Fleet) { f.Registrations[1].Name = unknown.Text }, true},
		{"repo of a registration", func(f *fleet.Fleet) { f.Registrations[0].Repo = unknown.Text }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fleet.Fleet{
				Environment:  "dev",
				ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}, Reconciler: "r"}},
				Policies:     []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
				Workloads: []*fleet.Workload{
					{
						Meta:    fleet.Meta{Name: "app", Labels: map[string]string{fleet.FluxOwnerLabel: "dev-team"}},
						Targets: []fleet.Target{{Name: "a", Environment: "dev"}, {Name: "b", Environment: "stage"}},
					},
					{Meta: fleet.Meta{Name: "other"}},
				},
				Registrations: []*fleet.WorkloadRegistration{{Meta: fleet.Meta{Name: "team"}}, {Meta: fleet.Meta{Name: "other"}}},
			}
			tt.set(f)
			decided := schedule.NamesKnown(f)
			if decided {
				made, problems := schedule.New(t.Context(), f, placement.PriorResults{})
				if err := problems.Err(); err != nil {
					t.Fatal(err)
				}
				_, decided = made.Known()
			}
			if decided != tt.want {
				t.Errorf("all placements are decided: %v", decided)
			}
			if inputs := schedule.UnknownInputs(f); !decided && len(inputs) == 0 {
				t.Error("UnknownInputs lists no input")
			}
		})
	}
}

// TestUnknownInputs: each unknown input that placements depend on is listed once, by its attribute.
func TestUnknownInputs(t *testing.T) {
	t.Parallel()
	from := func(attribute, key string) problem.Origin { return problem.Origin{Attribute: attribute, Key: key} }
	f := &fleet.Fleet{
		Environment: unknown.Text,
		Incomplete:  true,
		ClusterTypes: []*fleet.ClusterType{
			{
				Meta: fleet.Meta{
					Name:   "new",
					Origin: from("cluster_types", "new"),
					Labels: map[string]string{"region": unknown.Text, "zone": unknown.Text},
				},
			},
		},
		Policies: []*fleet.SchedulingPolicy{{
			Meta: fleet.Meta{Name: "west", Origin: from("scheduling_policies", "west")}, Workspace: unknown.Text,
			ClusterTypes:      fleet.Selector{MatchLabels: map[string]string{"region": "west"}},
			DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"tier": "gold"}},
		}},
		Workloads: []*fleet.Workload{
			{Meta: fleet.Meta{Name: "app", Origin: from("workloads", "app")}, Targets: []fleet.Target{
				{
					Name:        "a",
					Environment: "dev",
				},
				{Name: "b", Environment: "dev", Labels: map[string]string{"tier": unknown.Text, "size": unknown.Text}},
			}},
		},
	}
	if diff := cmp.Diff([]string{
		`cluster_types["new"].labels["region"]`,
		"environment",
		"manifests",
		`scheduling_policies["west"].deployment_target_selector.workspace`,
		`workloads["app"].deployment_targets[1].labels["tier"]`,
	}, schedule.UnknownInputs(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
