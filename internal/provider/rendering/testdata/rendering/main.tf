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

# Whether the fleet is in typed arguments. The default is Kalypso's documents: Terraform and the provider handle each
# value of an argument several times, and a document is one value.
variable "typed" {
  type    = bool
  default = false
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
  file   = "{{ with .ConfigData.value }}# value: {{ . }} in {{ $.Namespace }}\n{{ end }}"
}

locals {
  typed = var.typed || contains(values(var.broken), "unknown") # of one value, not of a whole document

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
    { all = { name = "all", labels = {}, data = { value = var.value } } },
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
  deployment_targets = [for name, type in var.targets : {
    name           = name
    labels         = { type = type }
    environment    = var.environment
    manifests      = { breaks = lookup(var.broken, name, "") == "text" ? "{{" : lookup(local.broken, name, "") }
    config_schemas = lookup(var.broken, name, "") == "schema" ? [jsonencode({ required = ["none"] })] : []
  }]

  kalypso = "scheduler.kalypso.io/v1alpha1"
  documents = concat(
    [for name, o in local.cluster_types : {
      apiVersion = local.kalypso, kind = "ClusterType", metadata = { name = o.name, labels = o.labels }
      spec       = { reconciler = o.reconciler, namespaceService = o.namespace_service, configType = o.config_type }
    }],
    [for name, o in local.templates : {
      apiVersion = local.kalypso, kind = "Template", metadata = { name = o.name }
      spec       = { type = o.type, manifests = o.manifests }
    }],
    [for name, o in local.configs : {
      apiVersion = "v1", kind = "ConfigMap"
      metadata   = { name = o.name, labels = merge({ platform-config = "true" }, o.labels) }, data = o.data
    }],
    [for name, o in local.scheduling_policies : {
      apiVersion = local.kalypso, kind = "SchedulingPolicy", metadata = { name = o.name }
      spec = {
        deploymentTargetSelector = { labelSelector = { matchLabels = o.deployment_target_selector.match_labels } }
        clusterTypeSelector      = { labelSelector = { matchLabels = o.cluster_type_selector.match_labels } }
      }
    }],
    [{
      apiVersion = local.kalypso, kind = "Workload", metadata = { name = "app" }
      spec = { deploymentTargets = [for t in local.deployment_targets : {
        name      = t.name, labels = t.labels, environment = t.environment
        manifests = t.manifests, configSchemas = t.config_schemas
      }] }
    }],
  )
}

resource "kalypso_environment_rendering" "this" {
  environment = var.environment

  cluster_types       = local.typed ? local.cluster_types : null
  templates           = local.typed ? local.templates : null
  configs             = local.typed ? local.configs : null
  scheduling_policies = local.typed ? local.scheduling_policies : null
  workloads           = local.typed ? { app = { name = "app", deployment_targets = local.deployment_targets } } : null
  manifests = merge(
    local.typed ? null : { "fleet.yaml" = join("---\n", [for d in local.documents : yamlencode(d)]) },
    try(var.options.manifests, null),
  )
  sources  = try(var.options.sources, null)
  verified = try(var.options.verified, null)

  rollout = var.rollout == null ? null : {
    stages   = var.rollout.stages
    observed = one(data.kalypso_deployment_state.this)
    skip     = try(var.rollout.skip, null)
    pause    = try(var.rollout.pause, null)

    on_failure = try(var.rollout.on_failure, null)
  }

  gitops_repo         = var.place
  promoted_commit     = try(var.options.promoted_commit, null)
  delivery            = try(var.options.delivery, null)
  adopt               = try(var.options.adopt, null)
  on_drift            = try(var.options.on_drift, null)
  guardrails          = try(var.options.guardrails, null)
  accepted_changes    = try(var.options.accepted_changes, null)
  preview             = try(var.options.preview, null)
  create_branch       = try(var.options.create_branch, null)
  commit_message      = try(var.options.commit_message, null)
  deletion_protection = try(var.options.deletion_protection, null)
  on_destroy          = try(var.options.on_destroy, null)
  on_move             = try(var.options.on_move, null)
  on_assignment_error = try(var.options.on_assignment_error, null)
  feedback            = try(var.options.feedback, null)
  timeouts            = try(var.options.timeouts, null)
}
