locals {
  gitops_repo = {
    repo   = var.gitops_repo.repo
    branch = coalesce(var.gitops_repo.branch, var.environment)
    path   = var.gitops_repo.path
  }
}

# Chooses the commit of the control plane that the environment renders.
data "kalypso_promotion" "this" {
  count = var.render ? 1 : 0

  environment   = var.environment
  control_plane = var.control_plane
  gitops_repo   = local.gitops_repo

  after    = var.after
  statuses = var.statuses
  dwell    = var.dwell

  hold          = lookup(var.overrides, "hold", null)
  pinned_commit = lookup(var.overrides, "pinned_commit", null)
  approved      = lookup(var.overrides, "approved", null)
  rejected      = lookup(var.overrides, "rejected", null)
}

# Reads the environment's own objects, and those of the promoted commit.
data "kalypso_control_plane" "this" {
  count = var.render ? 1 : 0

  repo      = var.control_plane.repo
  branch    = var.environment
  promotion = data.kalypso_promotion.this[0]
}

# Renders the tree and delivers it to the GitOps branch.
resource "kalypso_environment_rendering" "this" {
  count = var.render ? 1 : 0

  environment = var.environment
  manifests   = data.kalypso_control_plane.this[0].manifests
  sources     = data.kalypso_control_plane.this[0].sources
  gitops_repo = local.gitops_repo
  promotion   = data.kalypso_promotion.this[0]

  delivery            = var.delivery
  rollout             = var.rollout
  guardrails          = var.guardrails
  on_drift            = var.on_drift
  on_assignment_error = var.on_assignment_error
  preview             = var.preview
}

# Reads what the clusters run.
data "kalypso_deployment_state" "this" {
  count = var.report == null ? 0 : 1

  gitops_repo       = local.gitops_repo
  source            = var.report.source
  progress_deadline = var.report.progress_deadline
}

# Sets the status that the next environment reads.
resource "kalypso_commit_status" "this" {
  count = var.report == null ? 0 : 1

  repo        = var.control_plane.repo
  context     = "${var.environment} environment"
  deployment  = data.kalypso_deployment_state.this[0]
  renew_after = var.report.renew_after
  target_url  = var.report.target_url
}
