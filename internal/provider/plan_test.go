package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

// An unknown value at plan makes only the manifest unknown. Apply and the next plan work as usual.
func TestAccModelUnknown(t *testing.T) {
	manifest := tfjsonpath.New("manifest")
	unknown := func(address string) plancheck.PlanCheck { return plancheck.ExpectUnknownValue(address, manifest) }
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		Steps: []resource.TestStep{{
			ConfigFile: config.TestNameFile("main.tf"),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{
					unknown("kalypso_cluster_type.test"),
					unknown("kalypso_template.test"),
					unknown("kalypso_config.test"),
					unknown("kalypso_config.azure"),
					unknown("kalypso_config_schema.test"),
					unknown("kalypso_secret.test"),
					unknown("kalypso_secret.element"),
					unknown("kalypso_scheduling_policy.test"),
					unknown("kalypso_workload.test"),
					unknown("kalypso_workload_registration.test"),
					plancheck.ExpectKnownValue("kalypso_cluster_type.known", manifest, knownvalue.NotNull()),
				},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("kalypso_workload.test", manifest,
					knownvalue.StringExact(readFile(t, "testdata/TestAccModelUnknown/workload.yaml"))),
				statecheck.ExpectKnownValue("kalypso_config.azure", manifest,
					knownvalue.StringExact("apiVersion: v1\ndata:\n  a.b.c: d\nkind: ConfigMap\nmetadata:\n  name: "+
						"azure-app-config\n")),
			},
		}},
	})
}

// A selector from a null or empty variable is an error and never selects everything.
func TestAccNullVariableSelectsNothing(t *testing.T) {
	t.Parallel()
	r := newRootFrom(t, "testdata/TestAccNullVariableSelectsNothing")
	r.write("terraform.tf", terraformBlock)
	for name, test := range map[string]struct {
		variables []string
		want      string // error
	}{
		"null":       {nil, "Selector selects everything"},
		"empty":      {[]string{"-var=labels={}"}, "Selector selects everything"},
		"everything": {[]string{"-var=everything=true"}, ""},
		"both":       {[]string{"-var=everything=true", `-var=labels={ a = "b" }`}, "Contradictory selector"},
		"labels":     {[]string{`-var=labels={ a = "b" }`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"plan", "-no-color"}, test.variables...)
			if test.want != "" {
				r.expectError([]string{test.want}, args...)
				return
			}
			r.apply(test.variables...)
			r.expectEmptyPlan(test.variables...)
		})
	}
}
