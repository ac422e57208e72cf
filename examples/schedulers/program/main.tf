terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
    external = {
      source = "hashicorp/external"
    }
  }
}

# Any program that reads a JSON object of strings and writes another one.
data "external" "scheduler" {
  program = ["sh", "${path.module}/cheapest.sh"]
  query = {
    number = "2"
    prices = join(",", [for name, price in var.prices : "${name}=${price}"])
  }
}

variable "prices" {
  description = "The price of a deployment target on each cluster type."
  type        = map(number)
  default     = { drone = 1, large = 3, small = 2 }
}

locals {
  names = split(" ", data.external.scheduler.result.names)
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
