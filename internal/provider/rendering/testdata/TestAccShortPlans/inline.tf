resource "kalypso_environment_rendering" "this" {
  environment         = var.environment
  cluster_types       = local.cluster_types
  templates           = local.templates
  configs             = local.configs
  config_schemas      = local.config_schemas
  scheduling_policies = local.scheduling_policies
  workloads           = local.workloads
  gitops_repo         = { repo = var.repo, branch = var.environment }
  create_branch       = true
  preview             = var.preview
}
