terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
    kubernetes = {
      source = "hashicorp/kubernetes"
    }
  }
}

variable "namespace" {
  description = "The namespace of the Placement on the hub."
  type        = string
}

variable "placement" {
  description = "The name of the Placement. Its ManagedClusters are named as the cluster types."
  type        = string
}

# Reads the decisions of Open Cluster Management, which writes one PlacementDecision for each 100 clusters.
data "kubernetes_resources" "decisions" {
  api_version    = "cluster.open-cluster-management.io/v1beta1"
  kind           = "PlacementDecision"
  namespace      = var.namespace
  label_selector = "cluster.open-cluster-management.io/placement=${var.placement}"

  lifecycle {
    postcondition {
      condition     = length(self.objects) > 0
      error_message = "There is no PlacementDecision of the Placement ${var.placement}."
    }
  }
}

locals {
  names = sort(distinct(flatten([
    for o in data.kubernetes_resources.decisions.objects : [for d in try(o.status.decisions, []) : d.clusterName]
  ])))
}

locals {
  cluster_types = {
    drone = { region = "east-us" }
    large = { region = "west-us" }
    small = { region = "west-us" }
  }
}

# The standard templates, in this repo. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../../modules/templates"
}

resource "kalypso_environment_rendering" "dev" {
  environment = "dev"

  cluster_types = { for name, labels in local.cluster_types : name => {
    name = name, labels = labels, reconciler = "flux", namespace_service = "namespace"
  } }
  templates = module.templates.all
  workloads = { hello = {
    name = "hello"
    deployment_targets = [{
      name        = "web"
      environment = "dev"
      manifests   = { repo = "https://github.com/acme/hello", branch = "main", path = "./web" }
    }]
  } }

  scheduling_policies = { scheduled = {
    name                       = "scheduled"
    deployment_target_selector = { match_all = true }
    cluster_type_selector      = { match_all = true }
    placement                  = { names = local.names }
  } }

  delivery = { strategy = "none" } # in your configuration: gitops_repo
}

output "cluster_types" {
  value = [
    for name, targets in kalypso_environment_rendering.dev.assignments :
    name if contains(keys(targets), "hello-web")
  ]
}
