locals {
  gitops_repo = {
    repo   = var.gitops_repo.repo
    branch = coalesce(var.gitops_repo.branch, var.environment)
    path   = var.gitops_repo.path
  }

  # "terraform validate" works in the workspace "default", so this is no validation of the variable.
  no_workspace = "No environment has the name \"default\": it is the workspace of a root module in which no other is selected. Select the environment's: terraform workspace select -or-create <environment>."
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
  windows  = var.windows

  hold          = lookup(var.overrides, "hold", null)
  pinned_commit = lookup(var.overrides, "pinned_commit", null)
  approved      = lookup(var.overrides, "approved", null)
  rejected      = lookup(var.overrides, "rejected", null)
  rollback      = var.rollback

  lifecycle {
    precondition {
      condition     = var.environment != "default"
      error_message = local.no_workspace
    }
  }
}

# Reads the environment's own objects, and those of the promoted commit.
data "kalypso_control_plane" "this" {
  count = var.render ? 1 : 0

  repo      = var.control_plane.repo
  branch    = var.environment
  promotion = data.kalypso_promotion.this[0]
  on_error  = var.on_error
}

# Renders the tree and delivers it to the GitOps branch.
resource "kalypso_environment_rendering" "this" {
  count = var.render ? 1 : 0

  environment = var.environment
  manifests   = data.kalypso_control_plane.this[0].manifests
  sources     = data.kalypso_control_plane.this[0].sources
  gitops_repo = local.gitops_repo
  promotion   = data.kalypso_promotion.this[0]

  create_branch       = var.create_branch
  adopt               = var.adopt
  delivery            = var.delivery
  rollout             = var.rollout
  guardrails          = var.guardrails
  on_drift            = var.on_drift
  on_assignment_error = var.on_assignment_error
  accepted_changes    = var.accepted_changes
  on_move             = var.on_move
  on_destroy          = var.on_destroy
  deletion_protection = var.deletion_protection
  commit_message      = var.commit_message
  preview             = var.preview
  timeouts            = var.timeouts
}

# Reads what the clusters run.
data "kalypso_deployment_state" "this" {
  count = var.report == null ? 0 : 1

  gitops_repo       = local.gitops_repo
  source            = var.report.source
  progress_deadline = var.report.progress_deadline

  lifecycle {
    precondition {
      condition     = var.environment != "default"
      error_message = local.no_workspace
    }
  }
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
