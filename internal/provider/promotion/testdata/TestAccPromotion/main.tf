variable "github" {
  type    = object({ base_url = string, token = string })
  default = null
}

variable "control_plane" { type = string }
variable "gitops" { type = string }

variable "rules" {
  description = "The rules of the promotion."
  type        = any
  default     = {}
}

variable "delivery" {
  type    = any
  default = null
}

variable "rollout" {
  type    = any
  default = null
}

variable "on_drift" {
  type    = string
  default = null
}

variable "deletion_protection" {
  type    = bool
  default = null
}

variable "preview" {
  type    = string
  default = null
}

locals {
  environment = "prod"
  gitops_repo = { repo = var.gitops, branch = local.environment }
}

provider "kalypso" {
  github = var.github
  git_credentials = var.github == null ? [] : [
    { url = var.github.base_url, username = "x", password = var.github.token },
  ]
}

data "kalypso_promotion" "this" {
  environment   = local.environment
  control_plane = { repo = var.control_plane, branch = try(var.rules.branch, "main") }
  gitops_repo   = local.gitops_repo

  after         = try(var.rules.after, null)
  statuses      = try(var.rules.statuses, null)
  dwell         = try(var.rules.dwell, null)
  hold          = try(var.rules.hold, null)
  pinned_commit = try(var.rules.pinned_commit, null)
  approved      = try(var.rules.approved, null)
  rejected      = try(var.rules.rejected, null)
  windows       = try(var.rules.windows, null)
}

data "kalypso_control_plane" "this" {
  repo      = var.control_plane
  branch    = local.environment
  promotion = data.kalypso_promotion.this
}

resource "kalypso_environment_rendering" "this" {
  environment   = local.environment
  manifests     = data.kalypso_control_plane.this.manifests
  sources       = data.kalypso_control_plane.this.sources
  gitops_repo   = local.gitops_repo
  promotion     = data.kalypso_promotion.this
  delivery      = var.delivery
  preview       = var.preview
  on_drift      = var.on_drift
  rollout       = var.rollout
  create_branch = true

  deletion_protection = var.deletion_protection
}
