terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

provider "kalypso" {}

# The standard templates, in this repo. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../modules/templates"
}

locals {
  cluster_types = {
    # The built-in ExternalSecret, and a ConfigMap beside ciphertext.
    large = {
      name              = "large"
      labels            = { region = "west-us" }
      reconciler        = "flux"
      namespace_service = "namespace"
      config_type       = kalypso_template.config.name
    }
    # A custom template for the ExternalSecret.
    small = {
      name              = "small"
      reconciler        = "flux"
      namespace_service = "namespace"
      secret_type       = kalypso_template.external_secret.name
    }
  }

  templates = merge(module.templates.all, {
    config          = kalypso_template.config
    external_secret = kalypso_template.external_secret
  })
}

resource "kalypso_environment_rendering" "this" {
  environment   = "dev"
  cluster_types = local.cluster_types
  templates     = local.templates
  secrets       = { base = kalypso_secret.base, west_us = kalypso_secret.west_us }
  configs       = { base = { name = "base", data = { DATABASE_HOST = "db.acme.io" } } }

  workloads = {
    shop = {
      name = "shop"
      deployment_targets = [{
        name        = "web"
        environment = "dev"
        manifests   = { repo = "https://github.com/acme/shop", branch = "main", path = "./web" }
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

  # Only compute and show the files. To deliver them, set gitops_repo and remove delivery.
  delivery = { strategy = "none" }
  preview  = "manifests"
}

output "files" {
  value = kalypso_environment_rendering.this.files
}

# The objects with which a cluster with Flux syncs the folder large and decrypts the ciphertext in it.
output "sync" {
  value = join("---\n", [for object in provider::kalypso::cluster_sync(
    "flux", { repo = "https://github.com/acme/gitops", branch = "dev" }, "large", { decryption = "sops-age" }
  ) : yamlencode(object)])
}
