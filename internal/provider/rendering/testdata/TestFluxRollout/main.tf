# Two cluster types with one cluster each, in waves, and what the clusters report.
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

variable "app_branch" {
  type = string
}

variable "region" {
  type = string
}

variable "in_waves" {
  type = bool
}

variable "clusters" {
  type = any
}

provider "kalypso" {
  clusters = var.clusters
}

locals {
  gitops_repo = { repo = var.gitops_url, branch = "prod" }
}

resource "kalypso_cluster_type" "all" {
  for_each          = { canary = "0", large = "1" }
  name              = each.key
  labels            = { ring = each.value }
  reconciler        = kalypso_template.flux.name
  namespace_service = kalypso_template.namespace.name
}

resource "kalypso_template" "flux" {
  name = "flux"
  type = "reconciler"
  manifests = [
    <<-EOT
      apiVersion: source.toolkit.fluxcd.io/v1
      kind: GitRepository
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 5s
        url: "{{ .Manifests.repo }}"
        ref:
          branch: "{{ .Manifests.branch }}"
    EOT
    ,
    <<-EOT
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 5s
        retryInterval: 14s
        timeout: 4s
        wait: true
        targetNamespace: "{{ .Namespace }}"
        sourceRef:
          kind: GitRepository
          name: "{{ .DeploymentTargetName }}"
        path: "{{ .Manifests.path }}"
        prune: true
    EOT
  ]
}

resource "kalypso_template" "namespace" {
  name      = "namespace"
  type      = "namespace"
  manifests = ["apiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"{{ .Namespace }}\"\n"]
}

resource "kalypso_workload" "shop" {
  name      = "shop"
  workspace = "shop-team"
  deployment_targets = [{
    name        = "web"
    environment = "prod"
    manifests   = { repo = var.app_url, branch = var.app_branch, path = "./web" }
  }]
}

resource "kalypso_scheduling_policy" "all" {
  name                       = "all"
  deployment_target_selector = { match_all = true }
  cluster_type_selector      = { match_all = true }
}

resource "kalypso_environment_rendering" "prod" {
  environment         = "prod"
  cluster_types       = kalypso_cluster_type.all
  templates           = { flux = kalypso_template.flux, namespace = kalypso_template.namespace }
  workloads           = { shop = kalypso_workload.shop }
  scheduling_policies = { all = kalypso_scheduling_policy.all }
  configs             = { all = { name = "all", data = { REGION = var.region } } }
  gitops_repo         = local.gitops_repo
  create_branch       = true

  rollout = var.in_waves ? {
    stages = [
      { name = "canary", cluster_type_selector = { match_labels = { ring = "0" } }, soak = "15s" },
      { name = "rest", cluster_type_selector = { match_all = true } },
    ]
    observed = data.kalypso_deployment_state.prod
  } : null
}

data "kalypso_deployment_state" "prod" {
  gitops_repo       = local.gitops_repo
  source            = { kubernetes = { clusters = keys(var.clusters) } }
  expected          = { canary = { clusters = ["one"] }, large = { clusters = ["two"] } }
  progress_deadline = "12s"
}

output "state" {
  value = data.kalypso_deployment_state.prod
}

output "delivered" {
  value = kalypso_environment_rendering.prod.delivered
}
