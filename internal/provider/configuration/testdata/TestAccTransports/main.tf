# The credentials come from a file, so that Terraform itself keeps none of them in the plan file.

variable "credentials" {
  type = string
}

variable "repos" {
  type = map(string)
}

provider "kalypso" {
  git_credentials = jsondecode(file(var.credentials))
  github          = { token = trimspace(file("${var.credentials}.github")) }
}

resource "kalypso_environment_rendering" "to" {
  for_each      = var.repos
  environment   = "dev"
  cluster_types = { large = { name = "large", reconciler = "argocd", namespace_service = "namespace" } }
  templates = {
    argocd    = { name = "argocd", type = "reconciler", manifests = ["# repo: ${each.key}"] }
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
  gitops_repo         = { repo = each.value, branch = "dev" }
  create_branch       = true
  deletion_protection = false
}
