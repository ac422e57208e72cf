# The fleet page: what runs where, for people without Terraform. terraform output -raw page > index.html
terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

provider "kalypso" {}

variable "reports" {
  description = "As in the root module: an absolute path."
  type        = string
  default     = null
}

locals {
  environments = module.fleet.environments
  repos        = module.fleet.repos

  # Each run records what the clusters run, on a branch of the GitOps repo.
  store = { git = { repo = local.repos[local.environments[0]].GitOpsRepo.repo, branch = "history" } }
}

module "fleet" {
  source  = "../fleet"
  reports = var.reports
}

data "kalypso_deployment_state" "all" {
  for_each    = toset(local.environments)
  gitops_repo = local.repos[each.key].GitOpsRepo
  source      = module.fleet.sources[each.key]
  versions    = true
  detail      = "clusters"
}

resource "kalypso_deployment_record" "all" {
  for_each   = toset(local.environments)
  deployment = data.kalypso_deployment_state.all[each.key]
  store      = local.store
}

data "kalypso_deployment_history" "all" {
  for_each      = toset(local.environments)
  gitops_repo   = local.repos[each.key].GitOpsRepo
  control_plane = { repo = local.repos[each.key].BaseRepo.repo, branch = local.repos[each.key].BaseRepo.branch }
  store         = local.store
  since         = "720h"
  depends_on    = [kalypso_deployment_record.all]
}

# The targets that no policy places, with the policies of this checkout and base/ at the commit that was promoted.
data "kalypso_control_plane" "all" {
  for_each  = toset(local.environments)
  directory = "${path.module}/../environments/${each.key}"
  promotion = { commit = data.kalypso_deployment_state.all[each.key].promoted_commit }
  on_error  = "last_good"
}

data "kalypso_assignments" "all" {
  for_each    = toset(local.environments)
  environment = each.key
  manifests   = data.kalypso_control_plane.all[each.key].manifests
}

# What waits, and what people froze.
module "promotion" {
  source      = "../promotion"
  for_each    = toset(local.environments)
  environment = each.key
  repos       = local.repos[each.key]
  after       = { for name in module.fleet.before[each.key] : name => data.kalypso_deployment_state.all[name] }
}

# It is sensitive only so that no plan or log prints the HTML.
output "page" {
  sensitive = true
  value = provider::kalypso::fleet_page(
    [for name in local.environments : data.kalypso_deployment_history.all[name]],
    [for name in local.environments : data.kalypso_deployment_state.all[name]],
    [for name in local.environments : module.promotion[name].promotion],
    [], # comparisons
    [for name in local.environments : data.kalypso_assignments.all[name]],
  )
}
