variable "environment" {
  type    = string
  default = "dev"
}

# Cluster types.
variable "types" {
  type    = list(string)
  default = ["large", "small"]
}

# Deployment targets of the workload "app" by name, each with the cluster type that it goes to.
variable "targets" {
  type    = map(string)
  default = { a = "large", b = "large", c = "small" }
}

# What every file holds; empty, all files are.
variable "value" {
  type    = string
  default = "1"
}

# The same for single targets.
variable "values" {
  type    = map(string)
  default = {}
}

# What breaks deployment targets, by name: "data", "schema", "text", or "unknown", which is "data" from the apply on.
variable "broken" {
  type    = map(string)
  default = {}
}

resource "terraform_data" "breaks" {
  count = contains(values(var.broken), "unknown") ? 1 : 0
  input = "data"
}

variable "place" {
  type = object({ repo = string, branch = optional(string, "dev"), path = optional(string) })
}

# Arguments of the rendering.
variable "options" {
  type    = any
  default = {}
}

# Stages, skip and pause of a rollout; null: there is none.
variable "rollout" {
  type    = any
  default = null
}

# What clusters report; null: nobody looks.
variable "reports" {
  type    = any
  default = null
}

data "kalypso_deployment_state" "this" {
  count       = var.reports == null ? 0 : 1
  gitops_repo = try(var.options.observed_repo, var.place)
  source      = { reports = var.reports }

  progress_deadline = try(var.options.progress_deadline, null)
}

variable "git_credentials" {
  type    = list(any)
  default = []
}

variable "github" {
  type    = any
  default = null
}

variable "gitlab" {
  type    = any
  default = null
}

variable "azure_devops" {
  type    = any
  default = null
}

provider "kalypso" {
  git_credentials = var.git_credentials
  github          = var.github
  gitlab          = var.gitlab
  azure_devops    = var.azure_devops
  commit_author   = { name = "Platform", email = "platform@acme.io" }
}

locals {
  broken = { for target, how in var.broken : target => how == "unknown" ? terraform_data.breaks[0].output : how }
  fail   = "{{ with .Manifests.breaks }}{{ if eq . \"data\" }}{{ $.Manifests.none }}{{ end }}{{ end }}"
  file   = "{{ with .ConfigData.value }}value: {{ . }} in {{ $.Namespace }}\n{{ end }}"
}

resource "kalypso_environment_rendering" "this" {
  environment = var.environment

  cluster_types = { for type in var.types : type => {
    name              = type
    labels            = { type = type }
    reconciler        = "reconciler"
    namespace_service = "namespace"
    config_type       = "config"
  } }
  templates = {
    for type in ["reconciler", "namespace", "config"] : type => {
      name      = type
      type      = type
      manifests = ["${local.file}${type == "reconciler" ? local.fail : ""}"]
    }
  }
  configs = merge(
    { all = { name = "all", data = { value = var.value } } },
    {
      for target, value in var.values :
      target => { name = "of-${target}", labels = { "deployment-target" = "app-${target}" }, data = { value = value } }
    },
  )
  scheduling_policies = { for type in var.types : type => {
    name                       = type
    deployment_target_selector = { match_labels = { type = type } }
    cluster_type_selector      = { match_labels = { type = type } }
  } }
  workloads = { app = {
    name = "app"
    deployment_targets = [for name, type in var.targets : {
      name           = name, labels = { type = type }, environment = var.environment
      manifests      = { breaks = lookup(var.broken, name, "") == "text" ? "{{" : lookup(local.broken, name, "") }
      config_schemas = lookup(var.broken, name, "") == "schema" ? [jsonencode({ required = ["none"] })] : []
    }]
  } }
  manifests = try(var.options.manifests, null)
  sources   = try(var.options.sources, null)

  rollout = var.rollout == null ? null : {
    stages   = var.rollout.stages
    observed = one(data.kalypso_deployment_state.this)
    skip     = try(var.rollout.skip, null)
    pause    = try(var.rollout.pause, null)
  }

  gitops_repo         = var.place
  promoted_commit     = try(var.options.promoted_commit, null)
  delivery            = try(var.options.delivery, null)
  adopt               = try(var.options.adopt, null)
  on_drift            = try(var.options.on_drift, null)
  guardrails          = try(var.options.guardrails, null)
  preview             = try(var.options.preview, null)
  create_branch       = try(var.options.create_branch, null)
  commit_message      = try(var.options.commit_message, null)
  deletion_protection = try(var.options.deletion_protection, null)
  on_destroy          = try(var.options.on_destroy, null)
  on_move             = try(var.options.on_move, null)
  on_assignment_error = try(var.options.on_assignment_error, null)
  timeouts            = try(var.options.timeouts, null)
}
