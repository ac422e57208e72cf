resource "kalypso_cluster_type" "all" {
  for_each          = local.cluster_types
  name              = each.value.name
  labels            = each.value.labels
  reconciler        = each.value.reconciler
  namespace_service = each.value.namespace_service
  properties        = each.value.properties
}

resource "kalypso_template" "all" {
  for_each  = local.templates
  name      = each.value.name
  type      = each.value.type
  manifests = each.value.manifests
}

resource "kalypso_config" "all" {
  for_each = local.configs
  name     = each.value.name
  labels   = each.value.labels
  data     = each.value.data
}

resource "kalypso_config_schema" "all" {
  for_each = local.config_schemas
  name     = each.value.name
  schema   = each.value.schema
}

resource "kalypso_scheduling_policy" "all" {
  for_each                   = local.scheduling_policies
  name                       = each.value.name
  deployment_target_selector = each.value.deployment_target_selector
  cluster_type_selector      = each.value.cluster_type_selector
}

resource "kalypso_workload" "all" {
  for_each           = local.workloads
  name               = each.value.name
  workspace          = each.value.workspace
  deployment_targets = each.value.deployment_targets
}

resource "kalypso_environment_rendering" "this" {
  environment         = var.environment
  cluster_types       = kalypso_cluster_type.all
  templates           = kalypso_template.all
  configs             = kalypso_config.all
  config_schemas      = kalypso_config_schema.all
  scheduling_policies = kalypso_scheduling_policy.all
  workloads           = kalypso_workload.all
  gitops_repo         = { repo = var.repo, branch = var.environment }
  create_branch       = true
  preview             = var.preview
}
