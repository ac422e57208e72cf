terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

provider "kalypso" {}

# The standard templates: for Flux, Argo CD, Rancher Fleet, Zarf and namespaces.
module "templates" {
  source = "../modules/templates"
}

# A cluster type for each reconciler.
resource "kalypso_cluster_type" "all" {
  for_each = toset(["flux", "argocd", "fleet", "zarf"])

  name              = each.key
  reconciler        = module.templates.all[each.key].name
  namespace_service = module.templates.all.namespace.name
}

# A cache. What uses it requires it beside it: see dependsOn and the sync wave in the templates.
resource "kalypso_workload" "redis" {
  name = "redis"

  deployment_targets = [{
    name        = "main"
    environment = "dev"
    manifests   = { repo = "https://github.com/acme/redis", branch = "dev", path = "./deploy" }
  }]
}

# Two deployment targets of one workload on each cluster type: their objects must have different names.
resource "kalypso_workload" "shop" {
  name = "shop"

  deployment_targets = [for target in ["blue", "green"] : {
    name        = target
    environment = "dev"
    manifests   = { repo = "https://github.com/acme/shop", branch = "dev", path = "./${target}" }
    requires    = [{ workload = "redis" }]
  }]
}

resource "kalypso_scheduling_policy" "all" {
  name                       = "all"
  deployment_target_selector = { match_all = true }
  cluster_type_selector      = { match_all = true }
}

resource "kalypso_environment_rendering" "this" {
  environment         = "dev"
  cluster_types       = kalypso_cluster_type.all
  templates           = module.templates.all
  configs             = { base = { name = "base", data = { DATABASE_HOST = "db.acme.io" } } }
  workloads           = { redis = kalypso_workload.redis, shop = kalypso_workload.shop }
  scheduling_policies = { all = kalypso_scheduling_policy.all }

  # Only compute and show the files. To deliver them, set gitops_repo and remove delivery.
  delivery   = { strategy = "none" }
  preview    = "manifests"
  guardrails = { duplicate_objects = "error", requires = "error" }
}

output "files" {
  value = kalypso_environment_rendering.this.files
}
