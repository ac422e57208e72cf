package explain_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestProblems checks with which problems of a fleet there is no explanation.
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
		{"valid fleet", fleetOf(), nil, true},
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
		{"values that violate a schema", fleetOf(refusing), []string{"warning: Values violate their schema"}, true},
		{"invalid schema", fleetOf(document("ConfigSchema", "none", "", `schema: '{'`)),
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
		{"two cluster types with one name", fleetOf(clusterType("large", "")), []string{"error: Duplicate object"}, false},
		{
			"namespace that is too long",
			fleetOf(clusterType(strings.Repeat("l", 60), "")),
			[]string{"error: Invalid namespace"},
			false,
		},
		{"two cluster types with one name, and a template that does not parse", fleetOf(broken, clusterType("large", "")),
			[]string{"error: Duplicate object", "warning: Template does not parse"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, problems := engine.Explain(t.Context(), tt.fleet, placement.PriorResults{})
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
	e, problems := engine.Explain(ctx, fleetOf(), placement.PriorResults{})
	if e != nil || !errors.Is(problems.Err(), context.Canceled) {
		t.Errorf("with a canceled context: %v, %v", e, problems)
	}
}
