# One root module for dev, stage and prod without a Git host, on which nothing has a status: each environment takes the
# commits that the clusters of the one before it run. Each environment has its own workspace and state.
variable "control_plane_url" {
  description = "URL of the control plane's repo, with the branches main, dev, stage and prod."
  type        = string
  default     = "https://git.acme.io/control-plane"
}

variable "gitops_url" {
  description = "URL of the GitOps repo. The first delivery to an environment creates its branch."
  type        = string
  default     = "https://git.acme.io/gitops"
}

variable "reports" {
  description = "A folder with a JSON file for each environment, such as dev.json: the last reports of its clusters."
  type        = string
  default     = "reports"
}

locals {
  chain  = { dev = [], stage = ["dev"], prod = ["stage"] }
  before = lookup(local.chain, terraform.workspace, [])
}

data "kalypso_deployment_state" "before" {
  for_each    = toset(local.before)
  gitops_repo = { repo = var.gitops_url, branch = each.key }
  source      = { reports = try(jsondecode(file("${var.reports}/${each.key}.json")), []) }
}

module "environment" {
  source = "../../modules/environment"

  environment   = terraform.workspace
  control_plane = { repo = var.control_plane_url }
  gitops_repo   = { repo = var.gitops_url }
  create_branch = true

  after = { for name, state in data.kalypso_deployment_state.before : name => { deployed = state } }
}

output "commit" {
  value = module.environment.commit
}

output "reason" {
  value = module.environment.reason
}
