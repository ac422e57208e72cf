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
  description = "The absolute path of a folder with the last reports of the clusters, such as dev.json, instead of the sources in fleet.yaml."
  type        = string
  default     = null
}

module "fleet" {
  source  = "./fleet"
  reports = var.reports
}

# Each environment takes what the clusters of the one before it run. The first takes each commit.
data "kalypso_deployment_state" "before" {
  for_each    = toset(module.fleet.before[var.environment])
  gitops_repo = module.fleet.repos[each.key].GitOpsRepo
  source      = module.fleet.sources[each.key]
}

module "promotion" {
  source      = "./promotion"
  environment = var.environment
  repos       = module.fleet.repos[var.environment]
  after       = data.kalypso_deployment_state.before
}

# The environment's own objects in this checkout, base/ at the promoted commit, and the Workloads of all teams.
data "kalypso_control_plane" "this" {
  directory      = "${path.module}/environments/${var.environment}"
  base_directory = var.preview ? "${path.module}/base" : null
  promotion      = var.preview ? null : module.promotion.promotion
  on_error       = "last_good" # a repo that breaks stops no other team; a new one must be good
}

resource "kalypso_environment_rendering" "this" {
  environment   = var.environment
  manifests     = data.kalypso_control_plane.this.manifests
  sources       = data.kalypso_control_plane.this.sources
  gitops_repo   = data.kalypso_control_plane.this.gitops_repo
  create_branch = true

  promotion       = var.preview ? null : module.promotion.promotion
  promoted_commit = var.preview ? module.promotion.promotion.current : null

  delivery            = { describe = "lines" }
  preview             = "summary"
  on_assignment_error = "keep"               # nor does a Workload that fails to render
  guardrails          = { max_kept = "50%" } # the default, 10%, is less than one target of a small fleet

  feedback = { # teams hear of it on their commits, and by issues in their repos
    status = { context = "kalypso/${var.environment}" }
    issues = { labels = ["kalypso"] }
  }
}

# They change with a promotion only, so the plan after one is empty.
output "commit" {
  value = module.promotion.promotion.commit
}

output "reason" {
  value = module.promotion.promotion.reason
}
