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
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// TestRun pins how far a run gets, and that each stage reports its problems regardless of the problems of earlier
// stages.
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
		made     string
	}{
		{"a valid fleet", nil, nil, "decided schedule configuration tree"},
		{"a template that fails", changes(fails), []string{"Template rendering failed"}, configured},
		{"a template that does not parse", changes(parses), []string{"Template does not parse"}, configured},
		{"a schema that refuses the values", changes(refuses), []string{"Values violate their schema"}, configured},
		{"a schema that can't be used", changes(schema), []string{"Invalid JSON Schema"}, "decided"},
		{"a duplicate", changes(twice), []string{"Duplicate object"}, "decided"},
		{"a namespace that is too long", changes(long), []string{"Invalid namespace"}, "decided"},
		{"one of each stage", changes(twice, schema, refuses, long, parses), []string{
			"Duplicate object", "Invalid JSON Schema",
			"Invalid namespace", "Invalid namespace", // of two cluster types of one name
			"Template does not parse", "Values violate their schema",
		}, "decided"},
		{"not decided", changes(unknown), nil, ""},
		{"not decided, and one of each stage", changes(unknown, twice, schema, refuses, long, parses), []string{
			"Duplicate object", "Invalid JSON Schema", "Template does not parse",
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, "dev", base)
			for _, change := range tt.change {
				change(f)
			}
			result, problems := engine.Run(t.Context(), f, nil)
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
	t.Run("stopped", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		result, problems := engine.Run(ctx, read(t, "dev", base), nil)
		if len(problems) != 1 || !errors.Is(problems, context.Canceled) || made(result) != "decided" {
			t.Errorf("%v, made %q", problems, made(result))
		}
	})
}

func addSchema(f *fleet.Fleet, name, text string) {
	f.ConfigSchemas = append(f.ConfigSchemas, &fleet.ConfigSchema{Meta: fleet.Meta{Name: name}, Schema: text})
}

// made names what a result has.
func made(r *engine.Result) string {
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

// TestCheck pins that an object is checked by itself as in a fleet.
func TestCheck(t *testing.T) {
	f := read(t, "stage", brokenFleet) // where the targets of the environment "dev" are checked too
	var got []string
	for _, o := range f.Objects() {
		for _, p := range engine.Check(o) {
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
		if ps := engine.Check(o); len(ps) > 0 {
			t.Error(ps)
		}
	}
}
