# One root module for dev, stage and prod, each in its own workspace.
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

variable "progress_deadline" {
  description = "How long a cluster may take before it counts as failed."
  type        = string
  default     = "1h"
}

variable "hold" {
  description = "Why the environment is frozen."
  type        = string
  default     = null
}

variable "pinned_commit" {
  description = "The commit to pin, for a rollback."
  type        = string
  default     = null
}

variable "approved" {
  description = "Commits that need no gate, for a hotfix."
  type        = list(string)
  default     = []
}

variable "rejected" {
  description = "Bad commits, each with the first good one after it, or null."
  type        = map(string)
  default     = {}
}

variable "rollback" {
  description = "Whether the environment is rolled back automatically if a commit breaks its clusters."
  type        = bool
  default     = false
}

variable "windows" {
  description = "When a commit may be promoted, and a wave be written."
  type        = any
  default     = null
}

variable "pause" {
  description = "Why the rollout is paused: no further wave follows."
  type        = string
  default     = null
}

locals {
  environment = terraform.workspace
  before      = try({ stage = ["dev"], prod = ["stage"] }[local.environment], [])
  gitops_repo = { repo = var.gitops_url, branch = local.environment }
}

# Whether the previous environment runs its commit. On a Git host, its pipeline sets a commit status instead.
data "kalypso_deployment_state" "before" {
  for_each          = toset(local.before)
  gitops_repo       = { repo = var.gitops_url, branch = each.key }
  source            = { reports = try(jsondecode(file("${var.reports}/${each.key}.json")), []) }
  progress_deadline = var.progress_deadline
}

# Reads what the environment's own clusters run, for its waves.
data "kalypso_deployment_state" "own" {
  gitops_repo       = local.gitops_repo
  source            = { reports = try(jsondecode(file("${var.reports}/${local.environment}.json")), []) }
  progress_deadline = var.progress_deadline
}

# The newest commit of main that the previous environment runs. dev is first and takes each commit immediately.
data "kalypso_promotion" "this" {
  environment   = local.environment
  control_plane = { repo = var.control_plane_url, branch = "main" }
  gitops_repo   = local.gitops_repo
  after         = { for name, state in data.kalypso_deployment_state.before : name => { deployed = state } }

  hold          = var.hold
  pinned_commit = var.pinned_commit
  approved      = var.approved
  rejected      = var.rejected
  rollback      = var.rollback ? { observed = data.kalypso_deployment_state.own } : null
  windows       = var.windows
}

# The environment's own objects, and those of main at the promoted commit. Empty until a commit is promoted.
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

  # Each wave changes one cluster type.
  rollout = {
    stages   = [{ name = "all", cluster_type_selector = { match_all = true }, max_concurrency = "1" }]
    observed = data.kalypso_deployment_state.own
    pause    = var.pause
    windows  = var.windows
  }
}

output "commit" {
  value = data.kalypso_promotion.this.commit
}

output "reason" {
  value = data.kalypso_promotion.this.reason
}
