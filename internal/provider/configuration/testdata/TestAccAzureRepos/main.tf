variable "git_credentials" {
  type      = list(map(string))
  sensitive = true
  default   = null
}

variable "entra" {
  type    = bool
  default = null
}

variable "azure" {
  type      = any
  sensitive = true
  default   = null
}

variable "repo" {
  type = string
}

variable "value" {
  type    = string
  default = "1"
}

variable "on_drift" {
  type    = string
  default = null
}

variable "commit" {
  type    = string
  default = null
}

provider "kalypso" {
  git_credentials = var.git_credentials
  azure_devops    = { entra = var.entra }
  azure           = var.azure
}

resource "kalypso_environment_rendering" "this" {
  environment   = "dev"
  cluster_types = { large = { name = "large", reconciler = "argocd", namespace_service = "namespace" } }
  templates = {
    argocd    = { name = "argocd", type = "reconciler", manifests = ["# value: '${var.value}'"] }
    namespace = { name = "namespace", type = "namespace", manifests = ["# name: {{ .Namespace }}"] }
  }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads           = { hello = { name = "hello", deployment_targets = [{ name = "app", environment = "dev" }] } }
  gitops_repo         = { repo = var.repo, branch = "dev" }
  create_branch       = true
  on_drift            = var.on_drift
  deletion_protection = false
}

data "kalypso_deployment_state" "this" {
  count       = var.commit == null ? 0 : 1
  gitops_repo = { repo = var.repo, branch = "dev" }
  source = { reports = [{
    cluster = "a", folder = "large", revision = "dev@sha1:${var.commit}", state = "current", time = plantimestamp()
  }] }
}

output "verdict" {
  value = one(data.kalypso_deployment_state.this[*].verdict)
}
