# The environment: everything above, scheduled, rendered and pushed to its branch of the GitOps repo.
resource "kalypso_environment_rendering" "this" {
  environment = var.environment

  cluster_types = kalypso_cluster_type.all
  configs       = kalypso_config.all

  templates = {
    arc_flux  = kalypso_template.arc_flux
    argocd    = kalypso_template.argocd
    configmap = kalypso_template.configmap
    default   = kalypso_template.default
  }

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

  # The branch is made when it is not there yet.
  create_branch = true

  # The fleet is small: let the plan show the files themselves.
  preview = "manifests"
}
