# The commit of base/ that an environment renders, with the decisions of people in overrides/: for the root module, and
# for the fleet page.
terraform {
  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "environment" {
  description = "The environment: a folder of environments/."
  type        = string
}

variable "repos" {
  description = "The repos of the environment, as the module fleet returns them."
  type        = any
}

variable "after" {
  description = "The states of the environments that must run a commit first, by name."
  type        = any
}

locals {
  file = "overrides/${var.environment}.yaml"

  # yamldecode refuses an empty file, but not an empty document.
  given     = yamldecode("---\n${trimprefix(file("${path.module}/../${local.file}"), "---")}")
  overrides = local.given == null ? {} : local.given
  known     = ["hold", "pinned_commit", "approved", "rejected"]
  unknown   = setsubtract(keys(local.overrides), local.known)
}

data "kalypso_promotion" "this" {
  environment   = var.environment
  control_plane = { repo = var.repos.BaseRepo.repo, branch = var.repos.BaseRepo.branch }
  gitops_repo   = var.repos.GitOpsRepo
  after         = { for name, state in var.after : name => { deployed = state } }

  hold          = try(local.overrides.hold, null)
  pinned_commit = try(local.overrides.pinned_commit, null)
  approved      = try(local.overrides.approved, null)
  rejected      = try(local.overrides.rejected, null)

  lifecycle {
    precondition {
      condition     = length(local.unknown) == 0
      error_message = "${local.file} has the unknown key ${join(", ", local.unknown)}. There are: ${join(", ", local.known)}."
    }
  }
}

output "promotion" {
  description = "The kalypso_promotion as a whole."
  value       = data.kalypso_promotion.this
}
