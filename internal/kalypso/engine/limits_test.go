package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
)

// TestQuotas checks that a fleet within its limits renders. If it exceeds a limit, the error names the object, the
// limit and the number.
func TestQuotas(t *testing.T) {
	grow := func(targets, clusterTypes int, limits fleet.Limits) *fleet.Fleet {
		f := teamFleet("path: {{ .Manifests.path }}", "", map[string]string{"path": "x"})
		f.Limits, f.Configs = limits, nil
		for i := range targets - 1 {
			f.Workloads[0].Targets = append(f.Workloads[0].Targets, fleet.Target{
				Name: fmt.Sprint("t", i), Environment: "dev", Manifests: map[string]string{"path": "x"},
			})
		}
		f.Workloads[0].Targets = append(f.Workloads[0].Targets, fleet.Target{Name: "elsewhere", Environment: "prod"})
		for i := range clusterTypes - 1 {
			f.ClusterTypes = append(
				f.ClusterTypes,
				&fleet.ClusterType{Meta: fleet.Meta{Name: fmt.Sprint("ct", i)}, Reconciler: "r", NamespaceService: "n"},
			)
		}
		return f
	}
	tests := []struct {
		name  string
		fleet *fleet.Fleet
		want  []string // parts of the error; nil if the fleet renders
	}{
		{"as many assignments as allowed", grow(10, 10, fleet.Limits{Assignments: 100}), nil},
		{
			"one assignment more than allowed",
			grow(10, 10, fleet.Limits{Assignments: 99}),
			[]string{"100 assignments; limits.assignments allows 99", `"all": 100`},
		},
		{
			"more assignments than by default",
			grow(1900, 150, fleet.Limits{}),
			[]string{"285000 assignments; limits.assignments allows 250000"},
		},
		{"as many targets as allowed", grow(10, 1, fleet.Limits{TargetsPerWorkload: 10}), nil},
		{
			"one target more than allowed",
			grow(11, 1, fleet.Limits{TargetsPerWorkload: 10}),
			[]string{`Workload "app"`, `11 deployment ` +
				`targets in environment "dev"; limits.targets_per_workload allows 10`},
		},
		{"as many targets as by default", grow(2000, 1, fleet.Limits{}), nil},
		{"more targets than by default", grow(2001, 1, fleet.Limits{}), []string{"2001 deployment targets", "allows 2000"}},
		{"files of the allowed size", grow(1, 1, fleet.Limits{FileSize: 400}), nil},
		{"a larger file", grow(1, 1, fleet.Limits{FileSize: 40}),
			[]string{`Template "n"`, "limits.file_size allows 40 bytes", "large / app-test"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := engine.Run(t.Context(), tt.fleet, engine.Options{})
			err := problems.Err()
			if len(tt.want) == 0 && err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not contain %q", err, want)
				}
			}
		})
	}
}

// TestCheckManifests checks the limit for all YAML texts of a fleet together.
func TestCheckManifests(t *testing.T) {
	texts := map[string]string{"a.yaml": strings.Repeat("a", 600), "b.yaml": strings.Repeat("b", 424)}
	if ps := (fleet.Limits{Manifests: 1024}).CheckManifests(texts); len(ps) > 0 {
		t.Error(ps)
	}
	ps := fleet.Limits{Manifests: 1000}.CheckManifests(texts)
	want := `have 1Ki; limits.manifests allows 1000 bytes`
	if err := ps.Err(); err == nil || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), "\n  \"a.yaml\": 600 bytes\n") {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestParseStops cancels the context while many documents are parsed, as an interrupt or a timeout does.
func TestParseStops(t *testing.T) {
	const document = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {platform-config: \"true\"}}\n"
	text := strings.Repeat(document, 500_000)
	took := processor.Least(2*time.Second, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		objects, _, problems := fleetyaml.Parse(ctx, problem.Origin{Key: "many.yaml"}, text)
		if !errors.Is(problems, context.DeadlineExceeded) || len(problems) != 1 || len(objects) > 0 {
			t.Errorf("%d objects, %.500v", len(objects), problems)
		}
	})
	if took > 2*time.Second {
		t.Errorf("the run stopped after %s", took)
	}
}

// TestRunStops cancels the context in each stage of a run, as an interrupt or a timeout does. The stage must end long
// before it would be complete.
func TestRunStops(t *testing.T) {
	fleets := map[string]func() *fleet.Fleet{
		"validation": func() *fleet.Fleet {
			f := teamFleet("x: y", "", nil)
			labels := map[string]string{}
			for i := range 200 {
				labels[fmt.Sprint("example.com/label-", i)] = "value"
			}
			for i := range 20_000 {
				f.Configs = append(f.Configs, &fleet.Config{Meta: fleet.Meta{Name: fmt.Sprint("c", i), Labels: labels}})
			}
			return f
		},
		"scheduling": func() *fleet.Fleet {
			f := teamFleet("x: y", "", nil)
			for i := range 1900 {
				f.Workloads[0].Targets = append(
					f.Workloads[0].Targets,
					fleet.Target{Name: fmt.Sprint("t", i), Environment: "dev"},
				)
			}
			f.Policies = nil
			for i := range 20_000 {
				f.Policies = append(f.Policies, &fleet.SchedulingPolicy{
					Meta: fleet.Meta{
						Name: fmt.Sprint("p", i),
					},
					DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"none": "x"}},
				})
			}
			return f
		},
		"rendering": func() *fleet.Fleet {
			f := teamFleet(
				"x: {{ .Namespace }}{{ if .Namespace }}{{ range 900 }}{{ range 900 }}{{ end }}{{ end }}{{ end }}",
				"",
				nil,
			)
			for i := range 1900 {
				f.Workloads[0].Targets = append(
					f.Workloads[0].Targets,
					fleet.Target{Name: fmt.Sprint("t", i), Environment: "dev"},
				)
			}
			return f
		},
	}
	for name, build := range fleets {
		t.Run(name, func(t *testing.T) {
			f := build()
			took := processor.Least(time.Second, func() {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				result, problems := engine.Run(ctx, f, engine.Options{})
				if !errors.Is(problems, context.DeadlineExceeded) || len(problems) != 1 || result.Tree != nil {
					t.Errorf("%.500v", problems)
				}
			})
			if took > time.Second {
				t.Errorf("the run stopped after %s", took)
			}
		})
	}
}
