terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "environment" {
  description = "The environment to render. It is the name of the GitOps branch too."
  type        = string
  default     = "dev"
}

variable "delivery_strategy" {
  description = "How the tree is delivered. The tests set \"none\", which contacts no server and writes nothing."
  type        = string
  default     = "pull_request"
}

variable "load_test_sizes" {
  description = "Sizes of the cluster types that run load tests."
  type        = list(string)
  default     = ["large"]

  validation {
    condition     = length(var.load_test_sizes) > 0
    error_message = "Name at least one size."
  }
}

locals {
  shop = { repo = "https://git.acme.io/shop", branch = "main", path = "./deploy" }

  cluster_types = {
    large = { region = "west-us", size = "large" }
    small = { region = "west-us", size = "small" }
    drone = { region = "east-us", size = "small", restricted = "true" }
  }
}

resource "kalypso_cluster_type" "all" {
  for_each = local.cluster_types

  name              = each.key
  labels            = each.value
  reconciler        = module.templates.all.flux.name
  namespace_service = module.templates.all.namespace.name
}

# The standard templates, in this repo. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../modules/templates"
}

resource "kalypso_config" "west" {
  name   = "west"
  labels = { region = "west-us" }
  data   = { DATABASE_URL = "mysql://west:3306/shop" }
}

resource "kalypso_config" "restricted" {
  name   = "restricted"
  labels = { restricted = "true" }
  data   = { DATABASE_URL = "mysql://restricted:3306/shop" }
}

resource "kalypso_workload" "shop" {
  name = "shop"
  deployment_targets = [
    { name = "web", environment = "dev", labels = { tier = "web" }, manifests = local.shop },
    { name = "load-test", environment = "dev", labels = { tier = "test" }, manifests = local.shop },
    { name = "web", environment = "prod", labels = { tier = "web" }, manifests = local.shop },
  ]
}

resource "kalypso_scheduling_policy" "web" {
  name                       = "web"
  deployment_target_selector = { match_labels = { tier = "web" } }
  cluster_type_selector      = { match_all = true }
}

resource "kalypso_scheduling_policy" "load_test" {
  name                       = "load-test"
  deployment_target_selector = { match_labels = { tier = "test" } }
  cluster_type_selector = {
    match_expressions = [{ key = "size", operator = "In", values = var.load_test_sizes }]
  }
}

resource "kalypso_environment_rendering" "this" {
  environment         = var.environment
  cluster_types       = kalypso_cluster_type.all
  templates           = { flux = module.templates.all.flux, namespace = module.templates.all.namespace }
  configs             = { west = kalypso_config.west, restricted = kalypso_config.restricted }
  workloads           = { shop = kalypso_workload.shop }
  scheduling_policies = { web = kalypso_scheduling_policy.web, load_test = kalypso_scheduling_policy.load_test }

  gitops_repo = { repo = "https://github.com/acme/gitops", branch = var.environment }
  delivery    = { strategy = var.delivery_strategy }
  guardrails  = { max_removed = "20%", unscheduled = "error" }
  preview     = "manifests"
}
