package assignments_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// Faults of teams are warnings. The data source lists each fault with its object, its reason, and the time since which
// the record lists it.
func TestAccAssignmentsFailed(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
data "kalypso_assignments" "this" {
  environment   = "dev"
  cluster_types = { large = { name = "large", reconciler = "r", namespace_service = "r" } }
  templates     = { r = { name = "r", type = "reconciler", manifests = ["{{ .Manifests.path }}"] } }
  scheduling_policies = { all = {
    name = "all", deployment_target_selector = { match_all = true }, cluster_type_selector = { match_all = true }
  } }
  workloads = {
    data = { name = "data", deployment_targets = [{ name = "web", environment = "dev" }] }
    text = { name = "text", deployment_targets = [{ name = "web", environment = "dev", manifests = { path = "{{" } }] }
    well = { name = "well", deployment_targets = [{ name = "web", environment = "dev", manifests = { path = "x" } }] }
  }
  record = jsonencode({
    version = 1, environment = "dev", cluster_types = []
    kept     = [{ cluster_type = "large", deployment_target = "text-web", since = "2026-01-01T00:00:00Z" }]
    left_out = [{ cluster_type = "large", deployment_target = "data-web", since = "2026-01-02T00:00:00Z" }]
  })
}
`})
	out := r.Apply()
	for _, text := range []string{"Warning: Invalid text", "Warning: Template rendering failed"} {
		if !strings.Contains(out.Text(), text) {
			t.Errorf("the output of the apply lacks %q:\n%s", text, out.Text())
		}
	}
	r.ExpectEmptyPlan()
	type failed struct {
		ClusterType string `json:"cluster_type"`
		Target      string `json:"deployment_target"`
		Kind        string
		Object      string
		Origin      string
		Reason      string
		Since       string
	}
	var got []failed
	acc.FromJSON(t, acc.ToJSON(t, r.State()["data.kalypso_assignments.this"]["failed"]), &got)
	for i := range got {
		got[i].Reason, _, _ = strings.Cut(got[i].Reason, ":")
	}
	want := []failed{
		{"large", "data-web", "Template", "r", "r", "Template rendering failed", "2026-01-02T00:00:00Z"}, // as reconciler
		{"large", "data-web", "Template", "r", "r", "Template rendering failed", "2026-01-02T00:00:00Z"}, // as namespace
		{"", "text-web", "Workload", "text", "text", "Invalid text", "2026-01-01T00:00:00Z"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
}
