variable "repos" {
  type = map(string)
}

# The branch, the cluster types, the workloads and the value of each environment.
variable "environments" {
  type = map(object({
    types     = list(string)
    workloads = list(string)
    value     = string
    token     = optional(string, "none")
    commit    = optional(string)
  }))
}

variable "arguments" {
  type    = any
  default = {}
}

provider "kalypso" {
  commit_author = { name = "Platform", email = "platform@acme.io" }
}

resource "kalypso_environment_rendering" "this" {
  for_each = var.environments

  environment     = each.key
  gitops_repo     = { repo = var.repos["gitops"], branch = each.key, path = "clusters" }
  create_branch   = true
  promoted_commit = each.value.commit
  guardrails      = { secrets = "ignore", max_removed = "100%", allow_empty = true }

  cluster_types = { for name in each.value.types : name => {
    name = name, reconciler = "reconciler", namespace_service = "namespace"
  } }
  templates = { for name, kind in { reconciler = "ConfigMap", namespace = "Namespace" } : name => {
    name      = name
    type      = name
    manifests = ["apiVersion: v1\nkind: ${kind}\nmetadata: {name: {{ .Namespace }}, namespace: {{ .Namespace }}, labels: {on: {{ .ClusterType }}}}\n"]
  } }
  configs = { all = { name = "all", labels = { platform-config = "true" }, data = {
    REGION = each.value.value, ENVIRONMENT = each.key, SAME = "same", TOKEN = each.value.token
  } } }
  workloads = { for name in each.value.workloads : name => {
    name               = name
    deployment_targets = [{ name = "web", environment = each.key }]
  } }
  scheduling_policies = { all = {
    name                       = "all"
    deployment_target_selector = { match_all = true }
    cluster_type_selector      = { match_all = true }
  } }
}

data "kalypso_comparison" "this" {
  left          = { repo = var.repos["gitops"], branch = "stage", path = "clusters" }
  right         = { repo = var.repos["gitops"], branch = try(var.arguments.right, "prod"), path = "clusters" }
  ignore        = try(var.arguments.ignore, null)
  match         = try(var.arguments.match, null)
  control_plane = try({ repo = var.repos["base"], branch = var.arguments.base }, null)

  depends_on = [kalypso_environment_rendering.this]
}

output "comparison" {
  value = data.kalypso_comparison.this
}

output "page" {
  value = provider::kalypso::fleet_page([], [], [], data.kalypso_comparison.this)
}
