package configure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// The only value of the fleet of [TestSchemasApply] is LEVEL: info.
const (
	refuses = `{"properties": {"LEVEL": {"const": "debug"}}}`
	accepts = `{"required": ["LEVEL"]}`
	broken  = `{`
)

// TestSchemasApply configures one assignment to the cluster type large in the region west, and validates its values by
// the schemas that apply. A broken schema is an error if it may apply to an assignment, and a warning if it can't.
func TestSchemasApply(t *testing.T) {
	platform := func(labels map[string]string, schema string) func(*fleet.Fleet) {
		return func(f *fleet.Fleet) {
			f.ConfigSchemas = append(f.ConfigSchemas, &fleet.ConfigSchema{
				Meta: fleet.Meta{Name: fmt.Sprint("s", len(f.ConfigSchemas)), Labels: labels}, Schema: schema,
			})
		}
	}
	team := func(environment string, schemas ...string) func(*fleet.Fleet) {
		return func(f *fleet.Fleet) {
			f.Workloads[0].Targets = append(f.Workloads[0].Targets, fleet.Target{
				Name: "more", Environment: environment, ConfigSchemas: schemas,
			})
		}
	}
	west, east := map[string]string{"region": "west"}, map[string]string{"region": "east"}
	tests := []struct {
		name      string
		change    func(*fleet.Fleet)
		violated  []string // schemas of the assignment of the first target
		problem   string   // empty if there must be no problem
		isWarning bool
		isOfTeam  bool
		detail    string // a part of the problem's detail
	}{
		{name: "a schema of all assignments", change: platform(nil, refuses), violated: []string{`ConfigSchema "s0"`}},
		{name: "a schema that accepts the values", change: platform(nil, accepts)},
		{name: "a schema of the region", change: platform(west, refuses), violated: []string{`ConfigSchema "s0"`}},
		{name: "a schema of another region", change: platform(east, refuses)},
		{
			name:     "a schema of the region and the workload",
			change:   platform(map[string]string{"region": "west", fleet.WorkloadLabel: "app"}, refuses),
			violated: []string{`ConfigSchema "s0"`},
		},
		{name: "a schema whose labels are unknown", change: platform(map[string]string{"region": unknown.Text}, refuses)},
		{name: "an empty schema", change: platform(nil, "")},
		{name: "an unknown schema", change: platform(nil, unknown.Text)},
		{name: "a broken schema", change: platform(nil, broken), problem: "Invalid JSON Schema"},
		{name: "a broken schema of the region", change: platform(west, broken), problem: "Invalid JSON Schema"},
		{
			name:   "a broken schema whose labels are unknown",
			change: platform(map[string]string{unknown.Text: "x"}, broken), problem: "Invalid JSON Schema",
		},
		{
			name: "a broken schema of another region", change: platform(east, broken),
			problem: "Invalid JSON Schema", isWarning: true, detail: "it applies to no assignment",
		},
		{
			name: "a broken schema while a cluster type's assignments are unknown",
			change: func(f *fleet.Fleet) {
				platform(east, broken)(f)
				f.Policies[0].ClusterTypes = fleet.Selector{MatchLabels: map[string]string{"x": "y"}}
				f.ClusterTypes[0].Labels = map[string]string{"x": unknown.Text}
			},
			problem: "Invalid JSON Schema",
		},
		{
			name: "a cluster type with an unknown label",
			change: func(f *fleet.Fleet) {
				platform(west, refuses)(f)
				f.ClusterTypes[0].Labels[unknown.Text] = "x"
			},
		},
		{
			name: "a schema of the team",
			change: func(f *fleet.Fleet) {
				f.Workloads[0].Targets[0].ConfigSchemas = []string{accepts, refuses}
			},
			violated: []string{`Config schema 2 of deployment target "app-test"`},
		},
		{
			name:   "a broken schema of the team",
			change: team("dev", broken), problem: "Invalid JSON Schema", isOfTeam: true,
		},
		{name: "a broken schema of the team in another environment", change: team("prod", broken)},
		{
			name:   "a broken schema of the workload",
			change: func(f *fleet.Fleet) { f.Workloads[0].ConfigSchemas = []string{broken} }, problem: "Invalid JSON Schema",
			isOfTeam: true,
		},
		{
			name: "a broken schema of a workload without assignments",
			change: func(f *fleet.Fleet) {
				f.Workloads[0].ConfigSchemas = []string{broken}
				f.Policies[0].DeploymentTargets = fleet.Selector{MatchLabels: map[string]string{"x": "y"}}
			},
			problem: "Invalid JSON Schema", isWarning: true, detail: "it applies to no assignment",
		},
		{
			name:     "a schema with a pattern that is too long for the violation",
			change:   platform(nil, `{"properties": {"LEVEL": {"pattern": "^(`+strings.Repeat("x", 5000)+`)$"}}}`),
			violated: []string{`ConfigSchema "s0"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fleet.Fleet{
				Environment: "dev",
				ClusterTypes: []*fleet.ClusterType{
					{Meta: fleet.Meta{Name: "large", Labels: map[string]string{"region": "west"}}},
				},
				Policies: []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
				Configs: []*fleet.Config{{
					Meta: fleet.Meta{Name: "c", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}},
					Data: map[string]string{"LEVEL": "info"},
				}},
				Workloads: []*fleet.Workload{{
					Meta: fleet.Meta{Name: "app"}, Targets: []fleet.Target{{Name: "test", Environment: "dev"}},
				}},
			}
			tt.change(f)
			s, ps := schedule.New(t.Context(), f, placement.PriorResults{})
			if err := ps.Err(); err != nil {
				t.Fatal(err)
			}
			c, problems := configure.New(t.Context(), f, s)
			var violated []string
			if len(s.Placements[0].Assignments) > 0 {
				config := c.Of(0, len(s.Placements[0].Assignments)-1)
				for _, v := range config.Violations(config.Values.Merge()) {
					violated = append(violated, v.Schema)
					if len(v.Keys) == 0 || len(v.Keys[0]) > 1100 {
						t.Errorf("keys of %s: %q", v.Schema, v.Keys)
					}
				}
			}
			if d := cmp.Diff(tt.violated, violated); d != "" {
				t.Errorf("violated schemas (-want +got):\n%s", d)
			}
			switch {
			case tt.problem == "" && len(problems) > 0:
				t.Errorf("problems %v, want none", problems)
			case tt.problem != "" && len(problems) != 1:
				t.Errorf("problems %v, want one", problems)
			case tt.problem != "":
				p := problems[0]
				if p.Summary != tt.problem || p.Severity == problem.Warning != tt.isWarning ||
					p.Fault == problem.TeamFault != tt.isOfTeam || !strings.Contains(p.Detail, tt.detail) {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// TestCheckObject checks a single object, without the rest of the fleet.
func TestCheckObject(t *testing.T) {
	large := strings.Repeat("x", 2<<20)
	for _, tt := range []struct {
		name   string
		object fleet.Object
		want   []string
	}{
		{"a schema", &fleet.ConfigSchema{Meta: fleet.Meta{Name: "s"}, Schema: accepts}, nil},
		{
			"a broken schema",
			&fleet.ConfigSchema{Meta: fleet.Meta{Name: "s"}, Schema: broken},
			[]string{"Invalid JSON Schema"},
		},
		{
			"a Workload with broken schemas",
			&fleet.Workload{
				Meta:          fleet.Meta{Name: "w"},
				ConfigSchemas: []string{broken, accepts},
				Targets:       []fleet.Target{{Name: "t", Environment: "any", ConfigSchemas: []string{"[]"}}},
			},
			[]string{"Invalid JSON Schema", "Invalid JSON Schema"},
		},
		{
			"a config with large values",
			&fleet.Config{
				Meta: fleet.Meta{Name: "c", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}},
				Data: map[string]string{"A": large, "B": "b", "C": large},
			},
			[]string{"Config value too large", "Config value too large"},
		},
		{
			"an azure-app-config with a large value",
			&fleet.Config{
				Meta: fleet.Meta{Name: "azure-app-config"},
				Data: map[string]string{"region.west.A": large},
			},
			[]string{"Config value too large"},
		},
		{"a ConfigMap that is no platform config",
			&fleet.Config{Meta: fleet.Meta{Name: "c"}, Data: map[string]string{"A": large}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range configure.CheckObject(tt.object) {
				got = append(got, p.Summary)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
