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

variable "region" {
  description = "A value of the platform, which all targets get."
  type        = string
  default     = "west"
}

variable "orders_path" {
  description = "Path of the manifests of the team orders. Empty if the team forgot it."
  type        = string
  default     = "./orders"
}

variable "stock_schema" {
  description = "The schema of the team stock for the values of the platform."
  type        = any
  default     = { required = ["REGION"] }
}

# The standard templates, in this repo. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../modules/templates"
}

locals {
  cluster_types = {
    large = { name = "large", reconciler = "flux", namespace_service = "namespace", config_type = "values" }
  }

  # The platform's values, as the targets see them.
  templates = merge(module.templates.all, {
    values = {
      name = "values"
      type = "config"
      manifests = [
        <<-EOT
          apiVersion: v1
          kind: ConfigMap
          metadata:
            name: platform-config
            namespace: "{{ .Namespace }}"
          data:
            region: {{ .ConfigData.REGION }}
        EOT
      ]
    }
  })
  configs = { platform = { name = "platform", data = { REGION = var.region } } }
  policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }

  # Written by three teams.
  repo   = { repo = "https://git.acme.io/apps", branch = "main" }
  orders = { for key, value in merge(local.repo, { path = var.orders_path }) : key => value if value != "" }
  workloads = {
    orders = {
      name = "orders"
      deployment_targets = [
        { name = "web", environment = "prod", manifests = local.orders },
      ]
    }
    stock = {
      name = "stock"
      deployment_targets = [
        {
          name           = "web"
          environment    = "prod"
          manifests      = merge(local.repo, { path = "./stock" })
          config_schemas = [jsonencode(var.stock_schema)]
        },
      ]
    }
    users = {
      name               = "users"
      deployment_targets = [{ name = "web", environment = "prod", manifests = merge(local.repo, { path = "./users" }) }]
    }
  }
}

resource "kalypso_environment_rendering" "prod" {
  environment         = "prod"
  cluster_types       = local.cluster_types
  templates           = local.templates
  configs             = local.configs
  scheduling_policies = local.policies
  workloads           = local.workloads
  gitops_repo         = { repo = var.gitops_url, branch = "prod" }

  # The branch keeps the folders of targets that fail to render: here at most two of three.
  on_assignment_error = "keep"
  guardrails          = { max_kept = 2 }
}

# The failures as data, for a message to the teams.
data "kalypso_assignments" "prod" {
  environment         = "prod"
  cluster_types       = local.cluster_types
  templates           = local.templates
  configs             = local.configs
  scheduling_policies = local.policies
  workloads           = local.workloads
}

output "failed" {
  value = {
    for f in data.kalypso_assignments.prod.failed :
    "${f.cluster_type}/${f.deployment_target}" => "${f.kind} ${f.object}"
  }
}

output "assignments" {
  value = kalypso_environment_rendering.prod.assignments
}
