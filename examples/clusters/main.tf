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

variable "clusters" {
  description = "A JSON file with the clusters and their labels."
  type        = string
  default     = "clusters.json"
}

variable "reports" {
  description = "A JSON file with the reports of the clusters."
  type        = string
  default     = "reports.json"
}

locals {
  gitops_repo = { repo = var.gitops_url, branch = "stage" }
}

# The clusters that exist. From a hub: source = { kubernetes = [{ cluster = "hub", kind = "cluster_profile" }] }.
data "kalypso_clusters" "all" {
  source = { clusters = fileexists(var.clusters) ? jsondecode(file(var.clusters)) : {} }
  match = [
    { cluster_type = "store", match_labels = { kind = "store" } },
  ]
}

# The standard templates, in this repo. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../modules/templates"
}

resource "kalypso_cluster_type" "all" {
  for_each          = data.kalypso_clusters.all.cluster_types
  name              = each.key
  reconciler        = "flux"
  namespace_service = "namespace"
}

resource "kalypso_environment_rendering" "stage" {
  environment   = "stage"
  gitops_repo   = local.gitops_repo
  cluster_types = kalypso_cluster_type.all

  templates = { flux = module.templates.all.flux, namespace = module.templates.all.namespace }

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

# Each cluster must run the folder of its cluster type.
data "kalypso_deployment_state" "stage" {
  gitops_repo = local.gitops_repo
  source      = { reports = fileexists(var.reports) ? jsondecode(file(var.reports)) : [] }
  expected    = data.kalypso_clusters.all.cluster_types
}

output "commit" {
  value = kalypso_environment_rendering.stage.commit_sha
}

output "clusters" {
  value = data.kalypso_clusters.all.summary
}

output "unmatched" {
  value = data.kalypso_clusters.all.unmatched
}

output "state" {
  value = data.kalypso_deployment_state.stage.summary
}

output "problems" {
  value = [
    for p in data.kalypso_deployment_state.stage.problems :
    "${p.state}: ${p.cluster == null ? p.folder : p.cluster}: ${p.message}"
  ]
}

# The clusters that run each deployment target, for tools that follow the standard PlacementDecision.
output "decisions" {
  value = {
    for object in provider::kalypso::placement_decisions(
      kalypso_environment_rendering.stage.assignments, data.kalypso_clusters.all.cluster_types,
    ) : object.metadata.name => [for d in object.decisions : d.clusterProfileRef.name]
  }
}
