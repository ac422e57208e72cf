package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestRun checks which stage a run reaches, and that a stage reports its problems even if an earlier stage has
// problems.
func TestRun(t *testing.T) {
	unknown := func(f *fleet.Fleet) { f.Environment = unknown.Text }
	fails := func(f *fleet.Fleet) { f.Templates[0].Manifests = []string{"{{ .Labels.none }}"} }
	parses := func(f *fleet.Fleet) { f.Templates[0].Manifests = []string{"{{ end }}"} }
	schema := func(f *fleet.Fleet) {
		addSchema(f, "none", "{")
	}
	refuses := func(f *fleet.Fleet) {
		addSchema(f, "strict", `{"required": ["NONE"]}`)
	}
	twice := func(f *fleet.Fleet) { f.ClusterTypes = append(f.ClusterTypes, f.ClusterTypes[0]) }
	long := func(f *fleet.Fleet) {
		w := f.Workloads[0]
		w.Targets = append(w.Targets, fleet.Target{Name: strings.Repeat("long", 15), Environment: "dev"})
	}
	changes := func(all ...func(*fleet.Fleet)) []func(*fleet.Fleet) { return all }

	const configured = "decided schedule configuration"
	tests := []struct {
		name     string
		change   []func(*fleet.Fleet)
		problems []string // sorted
		made     string   // the parts of the output
	}{
		{"a valid fleet", nil, nil, "decided schedule configuration tree"},
		{"a template that fails", changes(fails), []string{"Template rendering failed"}, configured},
		{"a template that does not parse", changes(parses), []string{"Template does not parse"}, configured},
		{"values that violate a schema", changes(refuses), []string{"Values violate their schema"}, configured},
		{"a broken schema", changes(schema), []string{"Invalid JSON Schema"}, "decided"},
		{"two objects with the same name", changes(twice), []string{"Duplicate object"}, "decided"},
		{"a namespace that is too long", changes(long), []string{"Invalid namespace"}, "decided"},
		{"one problem of each stage", changes(twice, schema, refuses, long, parses), []string{
			"Duplicate object", "Invalid JSON Schema", "Invalid namespace",
			"Template does not parse", "Values violate their schema",
		}, "decided"},
		{"an unknown environment", changes(unknown), nil, ""},
		{
			"an unknown environment with one problem of each stage",
			changes(unknown, twice, schema, refuses, long, parses),
			[]string{
				"Duplicate object", "Invalid JSON Schema", "Template does not parse",
			},
			"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, "dev", base)
			for _, change := range tt.change {
				change(f)
			}
			result, problems := engine.Run(t.Context(), f, engine.Options{})
			var got []string
			for _, p := range problems {
				got = append(got, p.Summary)
			}
			slices.Sort(got)
			if d := cmp.Diff(tt.problems, got); d != "" {
				t.Errorf("problems (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.made, made(result)); d != "" {
				t.Errorf("made (-want +got):\n%s", d)
			}
		})
	}
	t.Run("canceled context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		result, problems := engine.Run(ctx, read(t, "dev", base), engine.Options{})
		if len(problems) != 1 || !errors.Is(problems, context.Canceled) || made(result) != "decided" {
			t.Errorf("%v, made %q", problems, made(result))
		}
	})
}

// TestUnusedTemplatesAndSchemas: a broken template or schema is a warning if it is certainly unused, and an error if it
// is or may be used.
func TestUnusedTemplatesAndSchemas(t *testing.T) {
	const used = "error"
	unused := func(why string) string { return "warning: It is a warning, since " + why + "." }
	schema := func(labels map[string]string) func(*fleet.Fleet) {
		return func(f *fleet.Fleet) {
			f.ConfigSchemas = append(f.ConfigSchemas, &fleet.ConfigSchema{
				Meta: fleet.Meta{Name: "broken", Labels: labels}, Schema: "{",
			})
		}
	}
	template := func(change func(f *fleet.Fleet)) func(*fleet.Fleet) {
		return func(f *fleet.Fleet) {
			f.Templates = append(f.Templates, &fleet.Template{
				Meta: fleet.Meta{Name: "broken"}, Type: fleet.TemplateReconciler, Manifests: []string{"{{ end }}"},
			})
			change(f)
		}
	}
	for name, test := range map[string]struct {
		change func(*fleet.Fleet)
		want   string
	}{
		"a template that no cluster type names": {template(func(*fleet.Fleet) {}),
			unused("no cluster type with assignments names this template")},
		"a template of a cluster type without assignments": {template(func(f *fleet.Fleet) {
			f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
				Meta: fleet.Meta{Name: "empty"}, Reconciler: "broken", NamespaceService: "n",
			})
		}), unused("no cluster type with assignments names this template")},
		"a template of a cluster type with assignments": {template(func(f *fleet.Fleet) {
			f.ClusterTypes[0].Reconciler = "broken"
		}), used},
		"a template of a cluster type that may have assignments": {template(func(f *fleet.Fleet) {
			f.ClusterTypes[0].Reconciler, f.ClusterTypes[0].Labels["region"] = "broken", unknown.Text
		}), used},
		"a template while the environment is unknown": {template(func(f *fleet.Fleet) {
			f.ClusterTypes[0].Reconciler, f.Environment = "broken", unknown.Text
		}), used},
		"a schema of other cluster types": {schema(map[string]string{fleet.ClusterTypeLabel: "other"}),
			unused("it applies to no assignment")},
		"a schema of all cluster types": {schema(nil), used},
		"a schema with unknown labels":  {schema(map[string]string{fleet.ClusterTypeLabel: unknown.Text}), used},
		"a schema of a team":            {func(f *fleet.Fleet) { f.Workloads[0].ConfigSchemas = []string{"{"} }, used},
		"a schema of a team without assignments": {func(f *fleet.Fleet) {
			f.Workloads = append(f.Workloads, &fleet.Workload{
				Meta: fleet.Meta{Name: "idle"}, ConfigSchemas: []string{"{"},
				Targets: []fleet.Target{{Name: "t", Environment: "dev", Labels: map[string]string{"purpose": "none"}}},
			})
		}, unused("it applies to no assignment")},
	} {
		t.Run(name, func(t *testing.T) {
			f := read(t, "dev", strings.Replace(base,
				"deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}",
				"deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: test}}}, "+
					"clusterTypeSelector: {labelSelector: {matchLabels: {region: west}}}", 1))
			test.change(f)
			_, problems := engine.Run(t.Context(), f, engine.Options{})
			got := ""
			for _, p := range problems {
				if p.Summary != "Template does not parse" && p.Summary != "Invalid JSON Schema" {
					continue
				}
				got = used
				if p.Severity == problem.Warning {
					got = "warning: " + p.Detail[strings.Index(p.Detail, "It is a warning"):]
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q: %v", got, test.want, problems)
			}
		})
	}
}

func addSchema(f *fleet.Fleet, name, text string) {
	f.ConfigSchemas = append(f.ConfigSchemas, &fleet.ConfigSchema{Meta: fleet.Meta{Name: name}, Schema: text})
}

// made lists the parts that an output has.
func made(r *engine.Output) string {
	var parts []string
	add := func(name string, there bool) {
		if there {
			parts = append(parts, name)
		}
	}
	add("decided", r.AssignmentsKnown)
	add("schedule", r.Schedule != nil)
	add("configuration", r.Configuration != nil)
	add("tree", r.Tree != nil)
	return strings.Join(parts, " ")
}

// TestCheck checks that an object on its own has the same problems as in a fleet.
func TestCheck(t *testing.T) {
	f := read(t, "stage", brokenFleet) // Check must also report the targets of the environment "dev"
	var got []string
	for _, o := range f.Objects() {
		for _, p := range engine.CheckObject(o) {
			got = append(got, p.Name+": "+p.Summary)
		}
	}
	for _, want := range []string{
		"broken: Template does not parse", "outside: Invalid JSON Schema", "app-te: Invalid JSON Schema",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	for _, o := range read(t, "dev", base).Objects() {
		if ps := engine.CheckObject(o); len(ps) > 0 {
			t.Error(ps)
		}
	}
}
