# A chain of two environments on Azure DevOps: dev is rendered here, stage is the operator's.
variable "azure_devops" { type = object({ base_url = string, token = optional(string), entra = optional(bool) }) }
variable "control_plane" { type = string }
variable "gitops" { type = string }
variable "verdict" { type = string }

variable "azure" {
  type    = any
  default = null
}

provider "kalypso" {
  azure_devops = var.azure_devops
  azure        = var.azure
}

data "kalypso_promotion" "this" {
  for_each      = { dev = [], stage = ["dev"] }
  environment   = each.key
  control_plane = { repo = var.control_plane, branch = "main" }
  gitops_repo   = { repo = var.gitops, branch = each.key }
  after         = { for before in each.value : before => {} }
}

data "kalypso_control_plane" "dev" {
  repo      = var.control_plane
  branch    = "dev"
  promotion = data.kalypso_promotion.this["dev"]
}

resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = data.kalypso_control_plane.dev.manifests
  sources     = data.kalypso_control_plane.dev.sources
  gitops_repo = { repo = var.gitops, branch = "dev" }
  promotion   = data.kalypso_promotion.this["dev"]
  delivery = {
    strategy = "pull_request", labels = ["platform"], reviewers = ["ann", "My Project/platform"], auto_merge = "squash"
  }
}

resource "kalypso_base_repo" "stage" {
  repo      = var.control_plane
  branch    = "stage"
  promotion = data.kalypso_promotion.this["stage"]
  delivery  = { strategy = "pull_request" }
}

resource "kalypso_commit_status" "dev" {
  repo        = var.control_plane
  context     = "dev environment"
  renew_after = "1h"
  deployment = {
    promoted_commit = data.kalypso_promotion.this["dev"].commit
    verdict         = var.verdict
    summary         = "1 of 1 cluster types deployed"
  }
  depends_on = [kalypso_environment_rendering.dev]
}

output "commits" {
  value = { for name, promotion in data.kalypso_promotion.this : name => promotion.commit }
}
