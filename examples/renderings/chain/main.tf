# One root module for dev, stage and prod. Each environment has its own workspace and state.
variable "account" {
  description = "The account that sets the statuses of the chain: a login, or an app."
  type        = string
  default     = "acme-ci[bot]"
}

locals {
  environment   = terraform.workspace
  control_plane = "https://github.com/acme/control-plane"
  gitops_repo   = { repo = "https://github.com/acme/gitops", branch = local.environment }

  before = try({ stage = "dev", prod = "stage" }[local.environment], null)
  soak   = try({ stage = "1h", prod = "4h" }[local.environment], null)
  dwell  = try({ dev = "90m", stage = "5h" }[local.environment], null) # the soak of the next environment, and a run

  # hold, pinned_commit, approved, rejected: people change them by pull request. yamldecode refuses an empty file, but not
  # an empty document.
  overrides_file = "${path.module}/overrides/${local.environment}.yaml"
  overrides      = yamldecode(fileexists(local.overrides_file) ? "---\n${trimprefix(file(local.overrides_file), "---")}" : "{}")
}

data "kalypso_promotion" "this" {
  environment   = local.environment
  control_plane = { repo = local.control_plane, branch = "main" }
  gitops_repo   = local.gitops_repo

  after    = local.before == null ? null : { (local.before) = { soak = local.soak, by = var.account } }
  statuses = { ci = { by = "github-actions[bot]" } }
  dwell    = local.dwell

  hold          = try(local.overrides.hold, null)
  pinned_commit = try(local.overrides.pinned_commit, null)
  approved      = try(local.overrides.approved, null)
  rejected      = try(local.overrides.rejected, null)

  lifecycle {
    precondition {
      condition     = length(setsubtract(try(keys(local.overrides), []), ["hold", "pinned_commit", "approved", "rejected"])) == 0
      error_message = "${local.overrides_file} may have hold, pinned_commit, approved and rejected, and nothing else."
    }
  }
}

data "kalypso_control_plane" "this" {
  repo      = local.control_plane
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

# Both outputs only change with a promotion, so the plan after one is empty.
output "commit" {
  value = data.kalypso_promotion.this.commit
}

output "reason" {
  value = data.kalypso_promotion.this.reason
}
