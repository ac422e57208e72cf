package provider_test

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
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
	for _, kind := range modelResources {
		t.Run(kind, func(t *testing.T) {
			folder := filepath.Join("testdata", "TestAccModelResources", kind)
			address := kind + ".test"
			manifest := tfjsonpath.New("manifest")
			step := func(name string, action plancheck.ResourceActionType) resource.TestStep {
				want := knownvalue.StringExact(readFile(t, filepath.Join(folder, name+".yaml")))
				return resource.TestStep{
					ConfigFile: config.StaticFile(filepath.Join(folder, name+".tf")),
					ConfigPlanChecks: resource.ConfigPlanChecks{
						PreApply: []plancheck.PlanCheck{
							plancheck.ExpectResourceAction(address, action),
							plancheck.ExpectKnownValue(address, manifest, want),
						},
						PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
					},
					ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(address, manifest, want)},
				}
			}
			resource.Test(t, resource.TestCase{
				ProtoV6ProviderFactories: factories,
				Steps: []resource.TestStep{
					step("created", plancheck.ResourceActionCreate),
					step("updated", plancheck.ResourceActionUpdate),
					{
						ResourceName:                         address,
						ImportState:                          true,
						ImportStateId:                        filepath.Join(folder, "updated.yaml"),
						ImportStateVerify:                    true,
						ImportStateVerifyIdentifierAttribute: "name",
					},
				},
			})
		})
	}
}
