# One root module for dev, stage and prod. Each environment has its own workspace and state.
variable "account" {
  description = "The account that sets the statuses of the chain: a login, or an app."
  type        = string
  default     = "acme-ci[bot]"
}

locals {
  chain = {
    dev   = { dwell = "90m" } # the soak of stage, and a run
    stage = { dwell = "5h", after = { dev = { soak = "1h", by = var.account } } }
    prod  = { after = { stage = { soak = "4h", by = var.account } } }
  }

  # hold, pinned_commit, approved, rejected: people change them by pull request. yamldecode refuses an empty file, but not
  # an empty document.
  overrides_file = "${path.module}/overrides/${terraform.workspace}.yaml"
}

module "environment" {
  source = "../../modules/environment"

  environment   = terraform.workspace
  control_plane = { repo = "https://github.com/acme/control-plane" }
  gitops_repo   = { repo = "https://github.com/acme/gitops" }

  after     = try(local.chain[terraform.workspace].after, null)
  dwell     = try(local.chain[terraform.workspace].dwell, null)
  statuses  = { ci = { by = "github-actions[bot]" } }
  overrides = yamldecode(fileexists(local.overrides_file) ? "---\n${trimprefix(file(local.overrides_file), "---")}" : "{}")
}

# Both outputs only change with a promotion, so the plan after one is empty.
output "commit" {
  value = module.environment.commit
}

output "reason" {
  value = module.environment.reason
}
