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

# The standard templates, in this repo. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../modules/templates"
}

# The desired tree.
resource "kalypso_environment_rendering" "stage" {
  environment = "stage"
  gitops_repo = local.gitops_repo

  cluster_types = {
    drone = { name = "drone", reconciler = "flux", namespace_service = "namespace" }
  }

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
              region: ${var.region}
        EOT
      ]
    }
  }

  workloads = {
    shop = {
      name = "shop"
      deployment_targets = [{
        name        = "web"
        environment = "stage"
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
