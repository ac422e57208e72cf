terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "gitops_url" {
  description = "URL of the GitOps repo."
  type        = string
  default     = "https://git.acme.io/gitops"
}

variable "reports" {
  description = "A JSON file with the reports of the clusters."
  type        = string
  default     = "reports.json"
}

variable "region" {
  description = "A value of the platform. A different value changes the tree to deploy."
  type        = string
  default     = "west"
}

locals {
  gitops_repo = { repo = var.gitops_url, branch = "stage" }
}

# The desired tree.
resource "kalypso_environment_rendering" "stage" {
  environment = "stage"
  gitops_repo = local.gitops_repo

  cluster_types = {
    drone = { name = "drone", reconciler = "reconciler", namespace_service = "namespace" }
  }

  templates = {
    reconciler = {
      name = "reconciler"
      type = "reconciler"
      manifests = [
        <<-EOT
          apiVersion: kustomize.toolkit.fluxcd.io/v1
          kind: Kustomization
          metadata:
            name: "{{ .DeploymentTargetName }}"
            namespace: flux-system
          spec:
            interval: 1m
            prune: true
            targetNamespace: "{{ .Namespace }}"
            path: {{ .Manifests.path | quote }}
            sourceRef:
              kind: GitRepository
              name: "{{ .Workload }}"
        EOT
      ]
    }
    namespace = {
      name = "namespace"
      type = "namespace"
      manifests = [
        <<-EOT
          apiVersion: v1
          kind: Namespace
          metadata:
            name: "{{ .Namespace }}"
            labels:
              region: ${var.region}
        EOT
      ]
    }
  }

  workloads = {
    shop = {
      name               = "shop"
      deployment_targets = [{ name = "web", environment = "stage", manifests = { path = "./web" } }]
    }
  }

  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
}

# Whether the clusters run the current tree of the branch, according to their last reports.
data "kalypso_deployment_state" "stage" {
  gitops_repo = local.gitops_repo
  source      = { reports = fileexists(var.reports) ? jsondecode(file(var.reports)) : [] }
  expected    = { drone = { clusters = ["drone-7", "drone-8"] } }
  detail      = "targets"
}

output "commit" {
  value = kalypso_environment_rendering.stage.commit_sha
}

output "verdict" {
  value = data.kalypso_deployment_state.stage.verdict
}

output "summary" {
  value = data.kalypso_deployment_state.stage.summary
}

output "problems" {
  value = [
    for p in data.kalypso_deployment_state.stage.problems :
    "${p.state}: ${coalesce(p.cluster, p.folder)}: ${p.message}"
  ]
}

output "targets" {
  value = data.kalypso_deployment_state.stage.targets
}
