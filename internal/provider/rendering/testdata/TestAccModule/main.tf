# Whole resources handed to a module whose variables take anything.

variable "round" {
  type = string
}

resource "terraform_data" "late" {
  input = var.round
}

resource "kalypso_cluster_type" "all" {
  for_each = { large = "west", small = "east" }

  name              = each.key
  labels            = { region = each.value }
  reconciler        = kalypso_template.reconciler.name
  namespace_service = kalypso_template.all["namespace"].name
  config_type       = kalypso_template.all["config"].name
}

resource "kalypso_template" "reconciler" {
  name      = "reconciler"
  type      = "reconciler"
  manifests = ["# name: {{ .DeploymentTargetName }}\n"]
}

locals {
  config = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: {{ .Namespace }} }\ndata:\n{{ .ConfigData | toYaml }}\n"
}

resource "kalypso_template" "all" {
  for_each = { namespace = "# {{ .Namespace }}\n", config = local.config }

  name      = each.key
  type      = each.key
  manifests = [each.value]
}

resource "kalypso_config" "late" {
  name   = "late"
  labels = { region = "west" }
  data   = { round = terraform_data.late.output }
}

resource "kalypso_scheduling_policy" "base" {
  name                       = "base"
  deployment_target_selector = { match_labels = { purpose = "test" } }
  cluster_type_selector      = { match_all = true }
}

resource "kalypso_scheduling_policy" "west" {
  for_each = toset(["west"])

  name                       = each.key
  deployment_target_selector = { match_all = true }
  cluster_type_selector      = { match_labels = { region = each.key } }
}

resource "kalypso_workload" "hello" {
  name = "hello"
  deployment_targets = [
    { name = "test", environment = "dev", labels = { purpose = "test" } },
    { name = "perf", environment = "dev" },
  ]
}

module "environment" {
  source = "./environment"

  cluster_types       = kalypso_cluster_type.all
  templates           = merge(kalypso_template.all, { reconciler = kalypso_template.reconciler })
  configs             = { late = kalypso_config.late, in_place = { name = "in-place", data = { a = "1" } } }
  scheduling_policies = merge(kalypso_scheduling_policy.west, { base = kalypso_scheduling_policy.base })
  workloads           = { hello = kalypso_workload.hello }
}

output "rendering" {
  value = module.environment.rendering
}
