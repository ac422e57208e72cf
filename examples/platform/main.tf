# Renders one environment: terraform apply -var environment=dev. Each environment has a state of its own.
terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

provider "kalypso" {}

variable "environment" {
  description = "The environment to render: a folder of environments/."
  type        = string
}

variable "preview" {
  description = "Whether to render base/ of this checkout instead of the promoted commit: for the plan of a pull request, which is never applied."
  type        = bool
  default     = false
}

variable "reports" {
  description = "A folder with the last reports of the clusters, such as dev.json, instead of the sources in fleet.yaml."
  type        = string
  default     = null
}

locals {
  environments = module.fleet.environments
  repos        = module.fleet.repos
  folder       = "${path.module}/environments/${var.environment}"

  # Each environment takes what the clusters of the one before it run. The first takes each commit.
  position = index(local.environments, var.environment)
  before   = slice(local.environments, max(local.position - 1, 0), local.position)

  # yamldecode refuses an empty file, but not an empty document.
  overrides = yamldecode("---\n${file("${path.module}/overrides/${var.environment}.yaml")}")
}

module "fleet" {
  source  = "./fleet"
  reports = var.reports
}

data "kalypso_deployment_state" "before" {
  for_each    = toset(local.before)
  gitops_repo = local.repos[each.key].GitOpsRepo
  source      = module.fleet.sources[each.key]
}

data "kalypso_promotion" "this" {
  environment   = var.environment
  control_plane = { repo = local.repos[var.environment].BaseRepo.repo, branch = local.repos[var.environment].BaseRepo.branch }
  gitops_repo   = local.repos[var.environment].GitOpsRepo
  after         = { for name, state in data.kalypso_deployment_state.before : name => { deployed = state } }

  hold          = try(local.overrides.hold, null)
  pinned_commit = try(local.overrides.pinned_commit, null)
  approved      = try(local.overrides.approved, null)
  rejected      = try(local.overrides.rejected, null)
}

# The environment's own objects in this checkout, base/ at the promoted commit, and the Workloads of all teams.
data "kalypso_control_plane" "this" {
  directory      = local.folder
  base_directory = var.preview ? "${path.module}/base" : null
  promotion      = var.preview ? null : data.kalypso_promotion.this
  on_error       = "last_good" # a team's broken repo stops no other team
}

resource "kalypso_environment_rendering" "this" {
  environment   = var.environment
  manifests     = data.kalypso_control_plane.this.manifests
  sources       = data.kalypso_control_plane.this.sources
  gitops_repo   = data.kalypso_control_plane.this.gitops_repo
  create_branch = true

  promotion       = var.preview ? null : data.kalypso_promotion.this
  promoted_commit = var.preview ? data.kalypso_promotion.this.current : null

  delivery            = { describe = "lines" }
  preview             = "summary"
  on_assignment_error = "keep" # nor does a Workload that fails to render

  feedback = { # teams hear of it on their commits, and by issues in their repos
    status = { context = "kalypso/${var.environment}" }
    issues = { labels = ["kalypso"] }
  }
}

# They change with a promotion only, so the plan after one is empty.
output "commit" {
  value = data.kalypso_promotion.this.commit
}

output "reason" {
  value = data.kalypso_promotion.this.reason
}
