# What must not be an error: everything here is valid, or not known while Terraform validates.

variable "target" {
  type = object({ name = string, environment = string })
}

variable "selector" {
  type = object({ match_labels = map(string) })
}

variable "everything" {
  type = bool
}

resource "terraform_data" "unknown" {
  input = "x"
}

locals {
  cluster_types = {
    large = { labels = { size = "large" } }
    small = { labels = {} }
  }
}

resource "kalypso_cluster_type" "each" {
  for_each = local.cluster_types

  name              = each.key
  labels            = each.value.labels
  reconciler        = "r"
  namespace_service = "n"
}

resource "kalypso_cluster_type" "copies" {
  for_each = kalypso_cluster_type.each

  name              = "${each.value.name}-${terraform_data.unknown.output}"
  labels            = each.value.labels
  reconciler        = each.value.reconciler
  namespace_service = each.value.namespace_service
}

resource "kalypso_workload" "unknown" {
  name               = terraform_data.unknown.output
  labels             = { (terraform_data.unknown.output) = "x" }
  deployment_targets = [var.target, { name = "a", environment = terraform_data.unknown.output }]
  config_schemas     = [terraform_data.unknown.output]
}

resource "kalypso_scheduling_policy" "unknown" {
  name                       = "p"
  deployment_target_selector = var.selector
  cluster_type_selector      = { match_all = var.everything }
}

resource "kalypso_scheduling_policy" "expressions" {
  name                       = "p"
  deployment_target_selector = { match_all = true, workspace = "w" }
  cluster_type_selector = {
    match_expressions = [for k in [terraform_data.unknown.output] : { key = k, operator = "Exists" }]
  }
}

resource "kalypso_template" "unknown" {
  name      = "t"
  type      = terraform_data.unknown.output
  manifests = ["{{ .Namespace }}", terraform_data.unknown.output]
}

resource "kalypso_config_schema" "unknown" {
  name   = "s"
  schema = terraform_data.unknown.output
}

resource "kalypso_workload_registration" "unknown" {
  name     = "r"
  workload = { repo = terraform_data.unknown.output, branch = "main" }
}

resource "kalypso_environment_rendering" "whole" {
  environment         = "dev"
  cluster_types       = merge(kalypso_cluster_type.each, kalypso_cluster_type.copies)
  templates           = { unknown = kalypso_template.unknown }
  config_schemas      = { unknown = kalypso_config_schema.unknown }
  scheduling_policies = { a = kalypso_scheduling_policy.unknown, b = kalypso_scheduling_policy.expressions }
  workloads           = { single = kalypso_workload.unknown }
  configs             = { in_place = { name = "c" } }
  gitops_repo         = { repo = "https://github.com/acme/gitops", branch = "dev" }
}

resource "kalypso_environment_rendering" "unknown" {
  environment   = terraform_data.unknown.output
  cluster_types = { for k in [terraform_data.unknown.output] : k => kalypso_cluster_type.each["large"] }
  configs       = terraform_data.unknown.output
  gitops_repo   = { repo = terraform_data.unknown.output, branch = "dev" }
}

resource "kalypso_secret" "unknown" {
  name = "s"
  data = {
    A = { store = terraform_data.unknown.output, key = terraform_data.unknown.output }
    B = { store = "vault", key = "k", property = "" }
    C = terraform_data.unknown.output
  }
}
