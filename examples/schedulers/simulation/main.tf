terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
    http = {
      source = "hashicorp/http"
    }
  }
}

variable "endpoint" {
  description = "The placement controller of the hub, such as https://hub.acme.io:8443."
  type        = string
}

variable "token" {
  description = "A token that may read the Placements of the namespace."
  type        = string
  sensitive   = true
}

# Asks Open Cluster Management for a decision. It does not store the decision; the rendering does.
data "http" "simulation" {
  url    = "${var.endpoint}/debug/placements/"
  method = "POST"
  request_headers = {
    Authorization = "Bearer ${var.token}"
    Content-Type  = "application/json"
  }
  request_body = jsonencode({
    apiVersion = "cluster.open-cluster-management.io/v1beta1"
    kind       = "Placement"
    metadata   = { name = "hello", namespace = "kalypso" }
    spec = {
      prioritizerPolicy = {
        mode           = "Exact"
        configurations = [{ scoreCoordinate = { builtIn = "ResourceAllocatableMemory" }, weight = 1 }]
      }
    }
  })

  lifecycle {
    postcondition {
      condition     = self.status_code == 200 && try(jsondecode(self.response_body).error, "") == ""
      error_message = "The simulation failed: ${self.response_body}"
    }
  }
}

locals {
  scores = try(jsondecode(data.http.simulation.response_body).aggregatedScores, []) # best first
  names  = [for s in slice(local.scores, 0, min(2, length(local.scores))) : s.clusterName]
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
