# Two cluster types in waves, whose artifacts one cluster syncs.
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

variable "repository" {
  type = string
}

variable "signing" {
  type      = object({ key = string })
  sensitive = true
}

variable "in_waves" {
  type = bool
}

variable "region" {
  type = string
}

variable "kubeconfig" {
  type      = string
  sensitive = true
}

provider "kalypso" {
  clusters = { one = { kubeconfig = var.kubeconfig } }
}

locals {
  gitops_repo = { repo = var.gitops_url, branch = "prod", path = "fleet" }
}

resource "kalypso_environment_rendering" "prod" {
  environment = "prod"
  cluster_types = { for name, ring in { canary = "0", large = "1" } : name => {
    name = name, labels = { ring = ring }, reconciler = "none", namespace_service = "namespace"
  } }
  templates = {
    none = { name = "none", type = "reconciler", manifests = [
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: none\n  namespace: \"{{ .Namespace }}\"\n",
    ] }
    namespace = { name = "namespace", type = "namespace", manifests = [
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"{{ .Namespace }}\"\n",
    ] }
  }
  workloads = { shop = { name = "shop", workspace = "shop", deployment_targets = [
    { name = "web", environment = "prod", manifests = { repo = var.gitops_url, branch = "main", path = "." } },
  ] } }
  scheduling_policies = { all = {
    name                       = "all"
    deployment_target_selector = { match_all = true }
    cluster_type_selector      = { match_all = true }
  } }
  configs       = { all = { name = "all", data = { REGION = var.region } } }
  gitops_repo   = local.gitops_repo
  create_branch = true

  rollout = var.in_waves ? {
    stages = [
      { name = "canary", cluster_type_selector = { match_labels = { ring = "0" } } },
      { name = "rest", cluster_type_selector = { match_all = true } },
    ]
    observed = data.kalypso_deployment_state.prod
  } : null
}

resource "kalypso_oci_artifacts" "prod" {
  gitops_repo = local.gitops_repo
  commit      = kalypso_environment_rendering.prod.commit_sha
  repository  = var.repository
  tags        = ["latest"]
  signing     = var.signing
}

data "kalypso_deployment_state" "prod" {
  gitops_repo = local.gitops_repo
  source      = { kubernetes = { clusters = ["one"] } }
  expected    = { for folder in ["canary", "large"] : folder => { clusters = ["one"] } }
  detail      = "clusters"
}

output "objects" {
  value = [for object in flatten([for folder in ["fleet/canary", "fleet/large"] : provider::kalypso::cluster_sync(
    "flux-oci", { repository = kalypso_oci_artifacts.prod.repository }, folder, { interval = "2s", verify = "cosign" }
  )]) : jsonencode(object)]
}

output "state" {
  value = data.kalypso_deployment_state.prod
}
