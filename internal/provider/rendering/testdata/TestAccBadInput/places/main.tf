# Places that can't be read, or may not be written. The test says where they are.

variable "credentials" {
  type = list(map(string))
}

variable "places" {
  type = map(object({ repo = string, branch = optional(string, "dev"), path = optional(string) }))
}

provider "kalypso" {
  git_credentials = var.credentials
}

resource "kalypso_environment_rendering" "at" {
  for_each      = var.places
  environment   = "dev"
  guardrails    = { allow_empty = true }
  cluster_types = { large = { name = "large", reconciler = "argocd", namespace_service = "namespace" } }
  templates = {
    argocd    = { name = "argocd", type = "reconciler" }
    namespace = { name = "namespace", type = "namespace" }
  }
  gitops_repo = each.value
}
