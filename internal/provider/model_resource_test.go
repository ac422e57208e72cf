package provider_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

var modelResources = []string{
	"kalypso_cluster_type",
	"kalypso_template",
	"kalypso_config",
	"kalypso_config_schema",
	"kalypso_secret",
	"kalypso_scheduling_policy",
	"kalypso_workload",
	"kalypso_workload_registration",
}

// Each kind is created, planned without changes, updated in place, imported from its own document, and destroyed. Its
// folder contains both configurations and the resulting documents.
func TestAccModelResources(t *testing.T) {
	file := func(kind, name string) string { return filepath.Join("testdata", "TestAccModelResources", kind, name) }
	manifest := tfjsonpath.New("manifest")
	step := func(name string, action plancheck.ResourceActionType) resource.TestStep {
		var all strings.Builder
		s := resource.TestStep{ConfigPlanChecks: resource.ConfigPlanChecks{
			PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
		}}
		for _, kind := range modelResources {
			all.WriteString(readFile(t, file(kind, name+".tf")))
			address, want := kind+".test", knownvalue.StringExact(readFile(t, file(kind, name+".yaml")))
			s.ConfigPlanChecks.PreApply = append(s.ConfigPlanChecks.PreApply,
				plancheck.ExpectResourceAction(address, action), plancheck.ExpectKnownValue(address, manifest, want))
			s.ConfigStateChecks = append(s.ConfigStateChecks, statecheck.ExpectKnownValue(address, manifest, want))
		}
		s.Config = all.String()
		return s
	}
	steps := []resource.TestStep{
		step("created", plancheck.ResourceActionCreate), step("updated", plancheck.ResourceActionUpdate),
	}
	for _, kind := range modelResources {
		steps = append(steps, resource.TestStep{
			ResourceName:                         kind + ".test",
			ImportState:                          true,
			ImportStateId:                        file(kind, "updated.yaml"),
			ImportStateVerify:                    true,
			ImportStateVerifyIdentifierAttribute: "name",
		})
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: factories, Steps: steps})
}
