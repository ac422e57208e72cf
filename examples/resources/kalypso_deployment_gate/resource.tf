variable "kubeconfig" {
  description = "The text of a kubeconfig, or its path."
  type        = string
  sensitive   = true
}

variable "delivered_commit" {
  description = "commit_sha of the rendering, which another root module applied. Null while its pull request is open."
  type        = string
  default     = null
}

provider "kalypso" {
  clusters = { aks-1 = { kubeconfig = var.kubeconfig, context = "aks-1" } }
}

locals {
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "stage" }
}

# The apply waits until the clusters run the commit.
resource "kalypso_deployment_gate" "stage" {
  count = var.delivered_commit == null ? 0 : 1

  gitops_repo = local.gitops_repo
  source      = { kubernetes = { clusters = ["aks-1"] } }
  expected    = { large = { clusters = ["aks-1"] } }
  commit      = var.delivered_commit

  timeouts = { create = "45m", update = "45m" }
}
