# A chain of three environments: dev and prod are rendered here, stage is the operator's.
variable "github" { type = object({ base_url = string, token = string }) }
variable "control_plane" { type = string }
variable "gitops" { type = string }

variable "dev_verdict" {
  type    = string
  default = "pending"
}

variable "promote_stage" {
  description = "Whether stage is promoted from here, and not by Kalypso's workflows."
  type        = bool
  default     = false
}

provider "kalypso" {
  github          = var.github
  git_credentials = [{ url = var.github.base_url, username = "x", password = var.github.token }]
}

data "kalypso_promotion" "this" {
  for_each      = { dev = [], stage = ["dev"], prod = ["stage"] }
  environment   = each.key
  control_plane = { repo = var.control_plane, branch = "main" }
  gitops_repo   = { repo = var.gitops, branch = each.key }
  after         = { for before in each.value : before => {} }
}

locals {
  rendered = toset(["dev", "prod"])
}

data "kalypso_control_plane" "this" {
  for_each  = local.rendered
  repo      = var.control_plane
  branch    = each.key
  promotion = data.kalypso_promotion.this[each.key]
}

resource "kalypso_environment_rendering" "this" {
  for_each    = local.rendered
  environment = each.key
  manifests   = data.kalypso_control_plane.this[each.key].manifests
  sources     = data.kalypso_control_plane.this[each.key].sources
  gitops_repo = { repo = var.gitops, branch = each.key }
  promotion   = data.kalypso_promotion.this[each.key]
}

resource "kalypso_base_repo" "stage" {
  count     = var.promote_stage ? 1 : 0
  repo      = var.control_plane
  branch    = "stage"
  promotion = data.kalypso_promotion.this["stage"]
}

resource "kalypso_commit_status" "dev" {
  repo       = var.control_plane
  context    = "dev environment"
  depends_on = [kalypso_environment_rendering.this]
  deployment = {
    promoted_commit = data.kalypso_promotion.this["dev"].commit
    verdict         = var.dev_verdict
    summary         = "1 of 1 cluster types deployed"
  }
}

output "commits" {
  value = { for name, promotion in data.kalypso_promotion.this : name => promotion.commit }
}

output "summaries" {
  value = { for name, promotion in data.kalypso_promotion.this : name => promotion.summary }
}
