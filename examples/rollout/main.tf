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
  description = "A folder with a JSON file for each cluster: its last report."
  type        = string
  default     = "reports"
}

variable "region" {
  description = "A value of the platform, which all clusters get."
  type        = string
  default     = "west"
}

variable "progress_deadline" {
  description = "How long a cluster may take before it counts as failed."
  type        = string
  default     = "1h"
}

variable "in_waves" {
  description = "Whether a change reaches the clusters in waves."
  type        = bool
  default     = true
}

variable "skip" {
  description = "The target_tree_hash that skips the waves."
  type        = string
  default     = null
}

locals {
  gitops_repo = { repo = var.gitops_url, branch = "prod" }
  rings       = { canary = "0", east = "1", north = "1", south = "1", west = "1" }
}

# The standard templates, in this repo. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../modules/templates"
}

resource "kalypso_environment_rendering" "prod" {
  environment = "prod"
  gitops_repo = local.gitops_repo

  cluster_types = { for name, ring in local.rings : name => {
    name = name, labels = { ring = ring }, reconciler = "flux", namespace_service = "namespace"
  } }

  templates = {
    flux = module.templates.all.flux
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
              region: {{ .ConfigData.REGION }}
        EOT
      ]
    }
  }

  configs = { all = { name = "all", data = { REGION = var.region } } }

  workloads = {
    shop = {
      name = "shop"
      deployment_targets = [{
        name        = "web"
        environment = "prod"
        manifests   = { repo = "https://git.acme.io/shop", branch = "main", path = "./web" }
      }]
    }
  }

  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }

  # The plan of a wave shows a line for each of its folders, which is enough to review it.
  preview = "summary"

  # Change the canary first, then a quarter of the rest at a time.
  rollout = var.in_waves ? {
    stages = [
      { name = "canary", cluster_type_selector = { match_labels = { ring = "0" } } },
      { name = "rest", cluster_type_selector = { match_all = true }, max_concurrency = "25%" },
    ]
    observed = data.kalypso_deployment_state.prod
    skip     = var.skip
  } : null
}

# Reads what the clusters run, according to their last reports.
data "kalypso_deployment_state" "prod" {
  gitops_repo       = local.gitops_repo
  source            = { reports = [for f in fileset(var.reports, "*.json") : jsondecode(file("${var.reports}/${f}"))] }
  progress_deadline = var.progress_deadline
}

output "status" {
  value = kalypso_environment_rendering.prod.rollout_status
}

output "delivered" {
  value = kalypso_environment_rendering.prod.delivered
}

output "target_tree_hash" {
  value = kalypso_environment_rendering.prod.target_tree_hash
}
