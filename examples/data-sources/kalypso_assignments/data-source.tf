# The standard templates, in the repo of the provider. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../../modules/templates"
}

# The fleet has the same arguments as in kalypso_environment_rendering: resources, inline objects, Kalypso YAML.
data "kalypso_assignments" "dev" {
  environment = "dev"

  cluster_types = {
    large = {
      name              = "large"
      labels            = { region = "west-us", size = "large" }
      reconciler        = "flux"
      namespace_service = "namespace"
    }
    drone = {
      name              = "drone"
      labels            = { region = "east-us", edge = "true" }
      reconciler        = "flux"
      namespace_service = "namespace"
    }
  }

  templates = module.templates.all

  configs = {
    common = { name = "10-common", data = { REGION = "none", LOG_LEVEL = "info" } }
    west   = { name = "20-west-us", labels = { region = "west-us" }, data = { REGION = "West US" } }
  }

  workloads = {
    hello_world = {
      name      = "hello-world"
      workspace = "kaizen-app-team"
      deployment_targets = [
        {
          name        = "functional-test"
          environment = "dev"
          labels      = { purpose = "functional-test" }
          manifests   = { repo = "https://github.com/acme/hello-world", branch = "dev", path = "./functional-test" }
        },
        {
          name        = "load-test"
          environment = "dev"
          labels      = { purpose = "load-test" }
          manifests   = { repo = "https://github.com/acme/hello-world", branch = "dev", path = "./load-test" }
        },
      ]
    }
  }

  scheduling_policies = local.policies

  why     = [{ target = "hello-world-load-test", cluster_type = "large" }]
  explain = true
}

resource "kalypso_scheduling_policy" "all" {
  for_each = toset(["functional-test", "performance-test"])

  name                       = "${each.key}-policy"
  deployment_target_selector = { workspace = "kaizen-app-team", match_labels = { purpose = each.key } }
  cluster_type_selector      = { match_labels = { size = "large" } }
}

# The local makes the new schedule part of the plan that changes the policies. If the data source referred to the
# resource directly, Terraform would wait until the change is applied.
locals {
  policies = kalypso_scheduling_policy.all
}

# The policies of each assignment, and the origin of its values: REGION comes from 20-west-us and overrides 10-common.
output "assignments" {
  value = data.kalypso_assignments.dev.assignments
}

# Why is hello-world-load-test not on large? The label "purpose" is "load-test" and must be "functional-test" …
output "why_not" {
  value = data.kalypso_assignments.dev.answers[0].reason
}

# Everything that no policy places, with the reason of each policy.
output "unscheduled" {
  value = {
    for target in data.kalypso_assignments.dev.unscheduled :
    target.deployment_target => { for r in target.reasons : r.policy => r.reason }
  }
}

# A policy that places nothing only causes a warning.
check "every_policy_places_something" {
  assert {
    condition     = length(data.kalypso_assignments.dev.idle_policies) == 0
    error_message = join("\n", [for p in data.kalypso_assignments.dev.idle_policies : "${p.policy}: ${p.reason}"])
  }
}
