variable "repo" { type = string }

variable "environment" {
  type    = string
  default = "dev"
}

# What a test changes.
variable "log_level" {
  type    = string
  default = "info"
}

variable "database_port" {
  type    = number
  default = 5432
}

variable "more_workloads" {
  type    = set(string)
  default = []
}

variable "preview" {
  type    = string
  default = "summary"
}

locals {
  environments = ["dev", "stage", "prod"]
  regions = {
    eastus      = "East US"
    northeurope = "North Europe"
    westeurope  = "West Europe"
    westus      = "West US"
  }
  sizes = {
    large  = { cpu = "64", memory = "256Gi" }
    medium = { cpu = "32", memory = "128Gi" }
    small  = { cpu = "8", memory = "32Gi" }
  }
  teams = {
    checkout = ["basket", "checkout", "payments", "refunds", "vouchers"]
    catalog  = ["catalog", "images", "inventory", "prices", "search"]
    platform = ["audit", "gateway", "identity", "mailer", "scheduler"]
  }
  team_of = merge([for team, apps in local.teams : { for app in apps : app => team }]...)

  cluster_types = merge([for region, _ in local.regions : {
    for size, properties in local.sizes : "${region}-${size}" => {
      name              = "${region}-${size}"
      labels            = { region = region, size = size }
      reconciler        = "flux"
      namespace_service = "default"
      properties        = properties
    }
  }]...)

  templates = {
    flux = {
      name = "flux"
      type = "reconciler"
      manifests = [
        <<-EOT
        apiVersion: source.toolkit.fluxcd.io/v1
        kind: GitRepository
        metadata:
          name: "{{ .DeploymentTargetName }}"
          namespace: flux-system
        spec:
          interval: 1m
          url: "{{ .Manifests.repo }}"
          ref:
            branch: "{{ .Manifests.branch }}"
        EOT
        ,
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
          sourceRef:
            kind: GitRepository
            name: "{{ .DeploymentTargetName }}"
          path: "{{ .Manifests.path }}"
        EOT
      ]
    }
    default = {
      name = "default"
      type = "namespace"
      manifests = [
        <<-EOT
        apiVersion: v1
        kind: Namespace
        metadata:
          name: "{{ .Namespace }}"
          labels:
            workspace: "{{ .Workspace }}"
        EOT
      ]
    }
  }

  configs = merge(
    { for region, name in local.regions : region => {
      name   = "region-${region}"
      labels = { region = region }
      data   = { REGION = name, DATABASE_URL = "postgres://db.${region}.acme.io:${region == "westus" ? var.database_port : 5432}/shop" }
    } },
    { for size, properties in local.sizes : size => {
      name   = "size-${size}"
      labels = { size = size }
      data   = { REPLICAS = size == "small" ? "1" : "3" }
    } },
    { platform = {
      name   = "platform"
      labels = null
      data   = { ENVIRONMENT = var.environment, LOG_LEVEL = var.log_level, TRACING_URL = "https://traces.acme.io" }
    } },
  )

  config_schemas = {
    platform = {
      name   = "platform"
      schema = jsonencode({ type = "object", required = ["ENVIRONMENT", "LOG_LEVEL", "REGION"] })
    }
  }

  scheduling_policies = { for team, _ in local.teams : team => {
    name                       = "${team}-everywhere"
    deployment_target_selector = { workspace = "${team}-team", match_labels = { tier = "web" } }
    cluster_type_selector      = { match_all = true }
  } }

  workloads = { for app in concat(keys(local.team_of), tolist(var.more_workloads)) : app => {
    name      = app
    workspace = "${lookup(local.team_of, app, "platform")}-team"
    # A rendering ignores the targets of other environments, and its plan is shorter without them.
    deployment_targets = [for environment in local.environments : {
      name        = "web"
      environment = environment
      labels      = { tier = "web" }
      manifests   = { repo = "https://github.com/acme/${app}", branch = environment, path = "./deploy/${environment}" }
    } if environment == var.environment]
  } }
}
