package delivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestValidateTree: problems of a rendered fleet that guardrails forbid.
func TestValidateTree(t *testing.T) {
	const (
		path        = "error gitops_repo.path: Path conflicts with the promoted commit's file"
		unscheduled = "unscheduled: Deployment targets that no policy places"
	)
	for name, test := range map[string]struct {
		known  bool
		change func(*desired)
		want   []string
	}{
		"all targets assigned":                 {true, func(d *desired) { d.Tree.Schedule.Unscheduled = nil }, nil},
		"unscheduled target":                   {true, func(*desired) {}, []string{"warning " + unscheduled}},
		"unscheduled target, guardrail ignore": {true, func(d *desired) { d.Guardrails.Unscheduled = problem.Ignore }, nil},
		"unscheduled target, guardrail fail": {true, func(d *desired) { d.Guardrails.Unscheduled = problem.Fail },
			[]string{"error " + unscheduled}},
		"unscheduled target, unknown guardrail": {true, func(d *desired) { d.Guardrails.Unscheduled = unknown.Text }, nil},
		"unknown environment": {false, func(d *desired) {
			d.Tree, d.Fleet.Environment = nil, unknown.Text
		}, nil},
		"unknown environment, require_known": {false, func(d *desired) {
			d.Tree, d.Fleet.Environment, d.Guardrails.RequireKnown = nil, unknown.Text, true
		}, []string{"error guardrails.require_known: Assignments not known"}},
		"no tree, require_known": {true, func(d *desired) { d.Tree, d.Guardrails.RequireKnown = nil, true }, nil},
		"unknown target, require_known": {false, func(d *desired) { d.Guardrails.RequireKnown = true },
			[]string{"error guardrails.require_known: Assignments not known"}},
		"path of the promoted commit's file": {true, func(d *desired) {
			d.Destination.Path, d.Promotion.Commit = ".github/tracking/Promoted_Commit_Id", "v1"
			d.Tree.Schedule.Unscheduled = nil
		}, []string{path}},
	} {
		t.Run(name, func(t *testing.T) {
			d := usualSituation().desired
			d.Fleet.Environment = "dev"
			d.Tree = &tree.Tree{Schedule: &schedule.Schedule{Unscheduled: []*fleet.DeploymentTarget{{Name: "a"}}}}
			test.change(d)
			r := d.rendered()
			if !test.known {
				r.Assignments = inventory.Partial
			}
			if diff := cmp.Diff(test.want, problemLines(checkTree(t.Context(), r))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
