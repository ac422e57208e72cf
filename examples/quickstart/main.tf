# Schedules and renders the fleet for the environment, and pushes the tree to its branch of the GitOps repo.
resource "kalypso_environment_rendering" "this" {
  environment = var.environment

  cluster_types = kalypso_cluster_type.all
  configs       = kalypso_config.all

  templates = merge(module.templates.all, { configmap = kalypso_template.configmap })

  config_schemas = {
    platform = kalypso_config_schema.platform
  }

  scheduling_policies = {
    functional_test  = kalypso_scheduling_policy.functional_test
    performance_test = kalypso_scheduling_policy.performance_test
    uat_test         = kalypso_scheduling_policy.uat_test
  }

  workloads = {
    hello_world_app = kalypso_workload.hello_world_app
  }

  gitops_repo = {
    repo   = var.gitops_repo_url
    branch = var.environment
  }

  # Create the branch if it does not exist yet.
  create_branch = true

  # The fleet is small, so let the plan show the files.
  preview = "manifests"
}
