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

locals {
  cluster_types = {
    large = { name = "large", reconciler = "reconciler", namespace_service = "namespace" }
  }

  # Written by the platform team.
  templates = {
    reconciler = {
      name = "reconciler"
      type = "reconciler"
      manifests = [
        <<-EOT
          apiVersion: kustomize.toolkit.fluxcd.io/v1
          kind: Kustomization
          metadata:
            name: "{{ .DeploymentTargetName }}"
            namespace: flux-system
          spec:
            interval: 1m
            prune: true
            targetNamespace: "{{ .Namespace }}"
            path: {{ .Manifests.path }}
            sourceRef:
              kind: GitRepository
              name: "{{ .Workload }}"
            postBuild:
              substitute:
                region: {{ .ConfigData.REGION }}
        EOT
      ]
    }
    namespace = {
      name = "namespace"
      type = "namespace"
      manifests = [
        <<-EOT
          apiVersion: v1
          kind: Namespace
          metadata:
            name: "{{ .Namespace }}"
        EOT
      ]
    }
  }
  configs = { platform = { name = "platform", data = { REGION = var.region } } }
  policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }

  # Written by three teams.
  workloads = {
    orders = {
      name = "orders"
      deployment_targets = [
        { name = "web", environment = "prod", manifests = var.orders_path == "" ? {} : { path = var.orders_path } },
      ]
    }
    stock = {
      name = "stock"
      deployment_targets = [
        {
          name           = "web"
          environment    = "prod"
          manifests      = { path = "./stock" }
          config_schemas = [jsonencode(var.stock_schema)]
        },
      ]
    }
    users = {
      name               = "users"
      deployment_targets = [{ name = "web", environment = "prod", manifests = { path = "./users" } }]
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
