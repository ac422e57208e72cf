# One cluster type, whose template of type reconciler is the one of the module templates. The shop requires the cache.
terraform {
  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "gitops_url" {
  type = string
}

variable "app_url" {
  type = string
}

provider "kalypso" {}

resource "kalypso_template" "namespace" {
  name      = "namespace"
  type      = "namespace"
  manifests = ["apiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"{{ .Namespace }}\"\n"]
}

resource "kalypso_template" "flux" {
  name      = "flux"
  type      = "reconciler"
  manifests = yamldecode(file("${path.module}/flux.yaml")).spec.manifests
}

resource "kalypso_cluster_type" "large" {
  name              = "large"
  reconciler        = kalypso_template.flux.name
  namespace_service = kalypso_template.namespace.name
}

resource "kalypso_workload" "all" {
  for_each = { redis = [], shop = [{ match_labels = { workload = "redis" } }] }
  name     = each.key

  deployment_targets = [{
    name        = "main"
    environment = "prod"
    manifests   = { repo = var.app_url, branch = "main", path = "./${each.key}" }
    requires    = each.value
  }]
}

resource "kalypso_scheduling_policy" "all" {
  name                       = "all"
  deployment_target_selector = { match_all = true }
  cluster_type_selector      = { match_all = true }
}

resource "kalypso_environment_rendering" "prod" {
  environment         = "prod"
  cluster_types       = { large = kalypso_cluster_type.large }
  templates           = { flux = kalypso_template.flux, namespace = kalypso_template.namespace }
  workloads           = kalypso_workload.all
  scheduling_policies = { all = kalypso_scheduling_policy.all }
  gitops_repo         = { repo = var.gitops_url, branch = "prod" }
  create_branch       = true
  guardrails          = { requires = "error" }
}
