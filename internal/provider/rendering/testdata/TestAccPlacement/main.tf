# A fleet whose cluster types have taints and properties, and whose policies choose among them.

variable "repo" {
  type = string
}

variable "url" {
  type    = string
  default = null
}

variable "github" {
  type    = any
  default = null
}

provider "kalypso" {
  github = var.github
}

locals {
  fleet = jsondecode(file("fleet.json"))
}

resource "kalypso_environment_rendering" "this" {
  environment = "dev"

  cluster_types = { for name, ct in local.fleet.cluster_types : name => {
    name              = name
    labels            = ct.labels
    reconciler        = "reconciler"
    namespace_service = "namespace"
    taints            = ct.taints
    properties        = ct.properties
  } }
  templates = { for type in ["reconciler", "namespace"] : type => {
    name = type, type = type, manifests = [
      "apiVersion: v1\nkind: ${type}\nmetadata: {name: a-{{ .Namespace }}, labels: {region: {{ .ClusterTypeLabels.region }}}}\n",
    ]
  } }
  scheduling_policies = { for name, p in local.fleet.policies : name => {
    name                       = name
    deployment_target_selector = { match_labels = { team = p.team } }
    cluster_type_selector      = { match_all = true }
    placement                  = p.placement
  } }
  workloads = { for name, team in local.fleet.workloads : name => {
    name               = name
    labels             = { team = team }
    deployment_targets = [{ name = "web", environment = "dev" }]
  } }

  gitops_repo   = { repo = var.url == null ? "file://${var.repo}" : var.url, branch = "dev" }
  delivery      = var.url == null ? null : { strategy = "pull_request" }
  guardrails    = local.fleet.guardrails
  adopt         = local.fleet.adopt
  create_branch = true
}
