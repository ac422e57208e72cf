# Several renderings on one branch, by their paths.
variable "paths" {
  type = list(string)
}

variable "repo" {
  type = string
}

variable "environment" {
  type    = string
  default = null # that of a rendering is its path's
}

variable "adopt" {
  type    = bool
  default = null
}

locals {
  environments = {
    for path in var.paths :
    path => coalesce(var.environment, path == "." ? "root" : replace(path, "/", "-"))
  }
}

resource "kalypso_environment_rendering" "this" {
  for_each = toset(var.paths)

  environment = local.environments[each.key]

  cluster_types = { large = { name = "large", reconciler = "file", namespace_service = "namespace" } }
  templates = {
    file      = { name = "file", type = "reconciler", manifests = ["# of ${each.key}"] }
    namespace = { name = "namespace", type = "namespace", manifests = ["# {{ .Namespace }}"] }
  }
  scheduling_policies = { all = {
    name = "all", deployment_target_selector = { match_all = true }, cluster_type_selector = { match_all = true }
  } }
  workloads = {
    app = { name = "app", deployment_targets = [{ name = "a", environment = local.environments[each.key] }] }
  }

  gitops_repo         = { repo = var.repo, branch = "all", path = each.key }
  create_branch       = true
  adopt               = var.adopt
  deletion_protection = false
}
