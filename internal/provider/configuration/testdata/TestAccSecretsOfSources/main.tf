# The credentials come from a file, so that Terraform itself keeps none of them in the plan file.

variable "credentials" {
  type = string
}

variable "repo" {
  type = string
}

variable "clusters" {
  type = list(string)
}

provider "kalypso" {
  azure    = jsondecode(file(var.credentials)).azure
  clusters = jsondecode(file(var.credentials)).clusters
}

data "kalypso_deployment_state" "this" {
  gitops_repo = { repo = var.repo, branch = "stage", path = "fleet" }
  source = {
    azure_resource_graph = { subscriptions = ["s"] }
    kubernetes           = { clusters = var.clusters }
  }
  detail   = "clusters"
  timeouts = { read = "20s" }
}

resource "terraform_data" "state" {
  input = data.kalypso_deployment_state.this
}
