# One page of three environments, for people without Terraform.
variable "gitops_url" {
  type    = string
  default = "https://github.com/acme/gitops"
}

variable "since" {
  description = "Start of the history: a time, or how long ago."
  type        = string
  default     = "720h"
}

locals {
  environments = ["dev", "stage", "prod"] # the order of the columns
}

data "kalypso_deployment_history" "all" {
  for_each    = toset(local.environments)
  gitops_repo = { repo = var.gitops_url, branch = each.key }
  since       = var.since
}

# Each environment has a file with the last reports of its clusters, such as prod.json.
data "kalypso_deployment_state" "all" {
  for_each    = toset(local.environments)
  gitops_repo = { repo = var.gitops_url, branch = each.key }
  source      = { reports = try(jsondecode(file("${each.key}.json")), []) }
  detail      = "clusters"
}

# To publish it in a pipeline: terraform output -raw page > index.html
# The page does not show the observation of a deployment state, which is sensitive.
output "page" {
  value = nonsensitive(provider::kalypso::fleet_page(
    [for name in local.environments : data.kalypso_deployment_history.all[name]],
    [for name in local.environments : data.kalypso_deployment_state.all[name]],
  ))
}
