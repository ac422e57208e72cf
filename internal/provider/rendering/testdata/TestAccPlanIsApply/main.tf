# A fleet whose objects come in every way: of resources with for_each and single ones, written in place, and as YAML.

variable "repo" {
  type = string
}

locals {
  fleet    = jsondecode(file("fleet.json"))
  each     = local.fleet.each
  single   = local.fleet.single
  in_place = local.fleet.in_place
}

resource "kalypso_cluster_type" "each" {
  for_each = local.each.cluster_types

  name              = each.value.name
  labels            = each.value.labels
  reconciler        = each.value.reconciler
  namespace_service = each.value.namespace_service
  config_type       = each.value.config_type
}

resource "kalypso_cluster_type" "single" {
  name              = local.single.cluster_types.name
  labels            = local.single.cluster_types.labels
  reconciler        = local.single.cluster_types.reconciler
  namespace_service = local.single.cluster_types.namespace_service
  config_type       = local.single.cluster_types.config_type
}

resource "kalypso_template" "each" {
  for_each = local.each.templates

  name         = each.value.name
  type         = each.value.type
  content_type = each.value.content_type
  manifests    = each.value.manifests
}

resource "kalypso_template" "single" {
  name         = local.single.templates.name
  type         = local.single.templates.type
  content_type = local.single.templates.content_type
  manifests    = local.single.templates.manifests
}

resource "kalypso_config" "each" {
  for_each = local.each.configs

  name   = each.value.name
  labels = each.value.labels
  data   = each.value.data
}

resource "kalypso_config" "single" {
  name   = local.single.configs.name
  labels = local.single.configs.labels
  data   = local.single.configs.data
}

resource "kalypso_scheduling_policy" "each" {
  for_each = local.each.scheduling_policies

  name                       = each.value.name
  deployment_target_selector = each.value.deployment_target_selector
  cluster_type_selector      = each.value.cluster_type_selector
}

resource "kalypso_scheduling_policy" "single" {
  name                       = local.single.scheduling_policies.name
  deployment_target_selector = local.single.scheduling_policies.deployment_target_selector
  cluster_type_selector      = local.single.scheduling_policies.cluster_type_selector
}

resource "kalypso_workload" "each" {
  for_each = local.each.workloads

  name               = each.value.name
  labels             = each.value.labels
  workspace          = each.value.workspace
  deployment_targets = each.value.deployment_targets
}

resource "kalypso_workload" "single" {
  name               = local.single.workloads.name
  labels             = local.single.workloads.labels
  workspace          = local.single.workloads.workspace
  deployment_targets = local.single.workloads.deployment_targets
}

resource "kalypso_environment_rendering" "this" {
  environment = "dev"

  cluster_types = merge(
    kalypso_cluster_type.each,
    { single = kalypso_cluster_type.single },
    local.in_place.cluster_types,
  )
  templates = merge(kalypso_template.each, { single = kalypso_template.single }, local.in_place.templates)
  configs   = merge(kalypso_config.each, { single = kalypso_config.single }, local.in_place.configs)
  scheduling_policies = merge(
    kalypso_scheduling_policy.each,
    { single = kalypso_scheduling_policy.single },
    local.in_place.scheduling_policies,
  )
  workloads = merge(kalypso_workload.each, { single = kalypso_workload.single }, local.in_place.workloads)
  manifests = { for f in fileset(path.module, "fleet/*.yaml") : "${local.fleet.origin}${f}" => file(f) }

  gitops_repo     = { repo = var.repo, branch = "dev", path = local.fleet.path }
  promoted_commit = local.fleet.promoted_commit
  preview         = local.fleet.preview
  commit_message  = local.fleet.commit_message
  guardrails      = { max_removed = "100%", allow_empty = true, unscheduled = "ignore", emptied = "ignore" }
  create_branch   = true
  delivery        = { describe = "keys" }
}
