package explain_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestProblems pins which problems stop an explanation.
func TestProblems(t *testing.T) {
	fleetOf := func(more ...string) *fleet.Fleet {
		return read(t,
			append([]string{clusterType("large", ""), target("", ""), schedulingPolicy("all", "", "")}, more...)...)
	}
	broken := document("Template", "broken", "", `type: config, manifests: ["{{ end }}"]`)
	refusing := document("ConfigSchema", "strict", "", `schema: '{"required": ["a"]}'`)
	tests := []struct {
		name  string
		fleet *fleet.Fleet
		want  []string // severity and summary
		shown bool
	}{
		{"valid", fleetOf(), nil, true},
		{"template that does not parse", fleetOf(broken), []string{"warning: Template does not parse"}, true},
		{
			"template that fails",
			read(t,
				document("Template", "fails", "", `type: reconciler, manifests: ["{{ .Labels.none `+
					`}}"]`),
				document(
					"ClusterType",
					"large",
					"",
					`reconciler: fails, namespaceService: "n"`,
				),
				target("", ""),
				schedulingPolicy("all", "", ""),
			),
			[]string{"warning: Template rendering failed"},
			true,
		},
		{"values that a schema refuses", fleetOf(refusing), []string{"warning: Values violate their schema"}, true},
		{"schema that is none", fleetOf(document("ConfigSchema", "none", "", `schema: '{'`)),
			[]string{"error: Invalid JSON Schema"}, false},
		{
			"missing template",
			fleetOf(document("ClusterType", "small", "", `reconciler: gone, namespaceService: "n"`)),
			[]string{"error: Missing template"},
			false,
		},
		{"missing template where nothing is assigned", read(t, clusterType("large", "tier: web"), target("", ""),
			schedulingPolicy("web", "", "labelSelector: {matchLabels: {tier: web}}"),
			document("ClusterType", "small", "", `reconciler: gone, namespaceService: "n"`)),
			[]string{"warning: Missing template"}, true},
		{"duplicate", fleetOf(clusterType("large", "")), []string{"error: Duplicate object"}, false},
		{
			"namespace too long",
			fleetOf(clusterType(strings.Repeat("l", 60), "")),
			[]string{"error: Invalid namespace"},
			false,
		},
		{"the fleet's own beside a template's", fleetOf(broken, clusterType("large", "")),
			[]string{"error: Duplicate object", "warning: Template does not parse"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, problems := engine.Explain(t.Context(), tt.fleet)
			var got []string
			for _, p := range problems {
				severity := "error"
				if p.Severity == problem.Warning {
					severity = "warning"
				}
				got = append(got, severity+": "+p.Summary)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("problems (-want +got):\n%s", d)
			}
			if shown := e != nil && e.Schedule.AssignmentCount == 1; shown != tt.shown {
				t.Errorf("the schedule is shown: %t", shown)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e, problems := engine.Explain(ctx, fleetOf()); e != nil || !errors.Is(problems.Err(), context.Canceled) {
		t.Errorf("stopped: %v, %v", e, problems)
	}
}
