# One root module for two environments, dev and prod, each in its workspace. It renders the environment, records what
# its clusters run, and shows the history.
terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "control_plane_url" {
  description = "URL of the control plane's repo."
  type        = string
  default     = "https://git.acme.io/control-plane"
}

variable "gitops_url" {
  description = "URL of the GitOps repo."
  type        = string
  default     = "https://git.acme.io/gitops"
}

variable "reports" {
  description = "A folder with a JSON file for each environment: the last reports of its clusters."
  type        = string
  default     = "reports"
}

variable "rejected" {
  description = "Bad commits, each with the first good one after it, or null."
  type        = map(string)
  default     = {}
}

variable "until" {
  description = "The end of the week that the history shows. Null means now."
  type        = string
  default     = null
}

variable "local_repos" {
  description = "Whether the teams' repos may be on this machine."
  type        = bool
  default     = false
}

provider "kalypso" {
  allow_local_repos = var.local_repos
}

locals {
  environment   = terraform.workspace
  before        = local.environment == "prod" ? ["dev"] : []
  control_plane = { repo = var.control_plane_url, branch = "main" }
  gitops_repo   = { repo = var.gitops_url, branch = local.environment }
  store         = { git = { repo = var.gitops_url, branch = "history" } }
}

# Whether the previous environment runs its commit.
data "kalypso_deployment_state" "before" {
  for_each    = toset(local.before)
  gitops_repo = { repo = var.gitops_url, branch = each.key }
  source      = { reports = try(jsondecode(file("${var.reports}/${each.key}.json")), []) }
}

data "kalypso_promotion" "this" {
  environment   = local.environment
  control_plane = local.control_plane
  gitops_repo   = local.gitops_repo
  after         = { for name, state in data.kalypso_deployment_state.before : name => { deployed = state } }
  rejected      = var.rejected
}

data "kalypso_control_plane" "this" {
  repo      = var.control_plane_url
  branch    = local.environment
  promotion = data.kalypso_promotion.this
}

resource "kalypso_environment_rendering" "this" {
  environment = local.environment
  manifests   = data.kalypso_control_plane.this.manifests
  sources     = data.kalypso_control_plane.this.sources
  gitops_repo = local.gitops_repo
  promotion   = data.kalypso_promotion.this
  preview     = "summary"
}

# Reads what the environment's clusters run now.
data "kalypso_deployment_state" "this" {
  gitops_repo = local.gitops_repo
  source      = { reports = try(jsondecode(file("${var.reports}/${local.environment}.json")), []) }
  detail      = "targets"
  versions    = true
}

# Each apply records the changes on the clusters since the last one.
resource "kalypso_deployment_record" "this" {
  deployment = data.kalypso_deployment_state.this
  store      = local.store
}

# The deliveries of the last week.
data "kalypso_deployment_history" "this" {
  gitops_repo   = local.gitops_repo
  control_plane = local.control_plane
  since         = "168h"
  until         = var.until
}

output "versions" {
  value = { for name, target in data.kalypso_deployment_state.this.targets : name => target.versions }
}

output "history" {
  value = data.kalypso_deployment_history.this.summary
}
