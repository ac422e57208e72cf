package assignments_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// TestAccAssignmentsWhy asks why a target is on a cluster type or not: for an assigned pair, for a target that is on
// another cluster type, and for names that do not exist. Without a policy, each answer gives this as the reason.
func TestAccAssignmentsWhy(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
variable "policies" {
  type    = any
  default = { west = {
    name                       = "west"
    deployment_target_selector = { workspace = "team-a", match_labels = { tier = "web" } }
    cluster_type_selector      = { match_labels = { region = "west" } }
  } }
}

variable "why" {
  type    = any
  default = [{ target = "shop-web", cluster_type = "large" }, { target = "shop-web", cluster_type = "small" }]
}

data "kalypso_assignments" "this" {
  environment         = "dev"
  cluster_types = {
    for name, region in { large = "west", small = "east" } :
    name => { name = name, labels = { region = region }, reconciler = "t", namespace_service = "t" }
  }
  templates           = { t = { name = "t", type = "reconciler", manifests = [""] } }
  workloads = {
    shop = {
      name               = "shop"
      workspace          = "team-a"
      deployment_targets = [{ name = "web", environment = "dev", labels = { tier = "web" } }]
    }
  }
  scheduling_policies = var.policies
  why                 = var.why
}

output "answers" {
  value = data.kalypso_assignments.this.answers
}

output "unscheduled" {
  value = data.kalypso_assignments.this.unscheduled[*].reasons[*].reason
}
`})
	answers := func() (all []struct {
		Reason   string
		Assigned bool
		Nearest  []struct{ Policy, Reason string }
	}) {
		r.Output("answers", &all)
		return all
	}
	r.Apply()
	r.ExpectEmptyPlan()
	got := answers()
	const east = `The cluster type is not selected: label "region" is "east" and must be "west".`
	if len(got) != 2 || !got[0].Assigned || got[0].Reason != `It is placed there by "west".` || len(got[0].Nearest) > 0 {
		t.Errorf("assigned pair: %+v", got)
	}
	if got[1].Assigned || got[1].Reason != `No scheduling policy places it there; the closest is "west". `+east ||
		got[1].Nearest[0].Policy != "west" || got[1].Nearest[0].Reason != east {
		t.Errorf("pair that is not assigned: %+v", got[1])
	}
	r.ExpectError([]string{
		"No such deployment target", `Environment "dev" has no deployment target "shop"`, "No such cluster type",
		`no cluster type "huge"`,
	}, "plan", "-no-color", "-var",
		`why=[{ target = "shop", cluster_type = "large" }, { target = "shop-web", cluster_type = "huge" }]`)
	r.Succeed("apply", "-auto-approve", "-var", "policies={}")
	if got := answers(); got[1].Reason != "There is no scheduling policy." {
		t.Errorf("without a policy: %+v", got[1])
	}
	if got := r.Succeed("output", "-json", "unscheduled").Stdout; got != `[["There is no scheduling policy."]]`+"\n" {
		t.Errorf("without a policy, unscheduled: %s", got)
	}
}
