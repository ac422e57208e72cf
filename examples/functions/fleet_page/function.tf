# One page of three environments, for people without Terraform.
variable "gitops_url" {
  type    = string
  default = "https://github.com/acme/gitops"
}

variable "control_plane_url" {
  type    = string
  default = "https://github.com/acme/control-plane"
}

variable "since" {
  description = "Start of the history: a time, or how long ago."
  type        = string
  default     = "720h"
}

locals {
  environments = ["dev", "stage", "prod"] # the order of the columns
  store        = { git = { repo = var.gitops_url, branch = "history" } }
}

# What runs now. Each environment has a file with the last reports of its clusters, such as prod.json. With versions,
# the provider reads the versions of the teams' repos, and the workspaces and workloads of their deployment descriptors.
data "kalypso_deployment_state" "all" {
  for_each    = toset(local.environments)
  gitops_repo = { repo = var.gitops_url, branch = each.key }
  source      = { reports = try(jsondecode(file("${each.key}.json")), []) }
  versions    = true
  detail      = "clusters"
}

# Each run records what has changed.
resource "kalypso_deployment_record" "all" {
  for_each   = toset(local.environments)
  deployment = data.kalypso_deployment_state.all[each.key]
  store      = local.store
}

# What was delivered, and what ran.
data "kalypso_deployment_history" "all" {
  for_each      = toset(local.environments)
  gitops_repo   = { repo = var.gitops_url, branch = each.key }
  control_plane = { repo = var.control_plane_url, branch = "main" }
  store         = local.store
  since         = var.since
  limit         = 1000
  depends_on    = [kalypso_deployment_record.all]
}

# To publish it in a pipeline: terraform output -raw page > index.html
# It is sensitive only so that no plan or log prints the HTML.
output "page" {
  sensitive = true
  value = provider::kalypso::fleet_page(
    [for name in local.environments : data.kalypso_deployment_history.all[name]],
    [for name in local.environments : data.kalypso_deployment_state.all[name]],
  )
}
