resource "kalypso_workload_registration" "all" {
  for_each = {
    hello-world-app = { repo = "https://github.com/acme/hello-world-app", workspace = "kaizen-app-team" }
    platform-svc    = { repo = "https://github.com/acme/platform-svc", workspace = "platform-team" }
  }

  name      = each.key
  workload  = { repo = each.value.repo, branch = "main", path = "workload" }
  workspace = each.value.workspace
}

# The commit to read instead of the head of the branch, such as that of a pull request in an application's pipeline.
variable "hello_world_commit" {
  type    = string
  default = null
}

locals {
  # So a plan that adds a registration also reads its Workloads.
  registrations = kalypso_workload_registration.all

  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "dev" }
}

data "kalypso_workloads" "dev" {
  registrations = local.registrations
  pins          = { hello-world-app = var.hello_world_commit }

  # If a team pushes invalid documents, its last delivered commit is read.
  on_error    = "last_good"
  gitops_repo = local.gitops_repo
}

# The standard templates, in the repo of the provider. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../../modules/templates"
}

resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = data.kalypso_workloads.dev.manifests
  sources     = data.kalypso_workloads.dev.sources
  gitops_repo = local.gitops_repo

  cluster_types = {
    large = { name = "large", reconciler = "flux", namespace_service = "namespace" }
  }

  templates = module.templates.all

  scheduling_policies = {
    kaizen = {
      name                       = "kaizen"
      deployment_target_selector = { workspace = "kaizen-app-team" }
      cluster_type_selector      = { match_all = true }
    }
  }
}
