variable "url" {
  type = string
}

variable "password" {
  type      = string
  sensitive = true
}

# Name of a registration → its repo's name.
variable "registrations" {
  type = map(string)
}

variable "pins" {
  type    = map(string)
  default = null
}

variable "on_error" {
  type    = string
  default = null
}

variable "verify" {
  type    = object({ ssh = optional(list(string)), mode = optional(string) })
  default = null
}

provider "kalypso" {
  git_credentials = [{ url = var.url, username = "me", password = var.password }]
}

resource "kalypso_workload_registration" "all" {
  for_each = var.registrations

  name      = each.key
  workload  = { repo = "${var.url}/${each.value}", branch = "main", path = "deploy" }
  workspace = "team-${each.key}"
}

locals {
  # So that a plan that adds one reads its Workloads.
  registrations = kalypso_workload_registration.all
  gitops_repo   = { repo = "${var.url}/gitops", branch = "dev", path = "./fleet" }
}

data "kalypso_workloads" "this" {
  registrations = local.registrations
  pins          = var.pins
  on_error      = var.on_error
  verify        = var.verify
  gitops_repo   = local.gitops_repo
}

resource "kalypso_environment_rendering" "this" {
  environment   = "dev"
  cluster_types = { large = { name = "large", reconciler = "flux", namespace_service = "ns" } }
  templates = {
    flux = { name = "flux", type = "reconciler", manifests = ["# workspace: {{ .Workspace }}"] }
    ns   = { name = "ns", type = "namespace", manifests = ["# kind: Namespace"] }
  }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  manifests     = data.kalypso_workloads.this.manifests
  sources       = data.kalypso_workloads.this.sources
  verified      = data.kalypso_workloads.this.verified
  gitops_repo   = local.gitops_repo
  create_branch = true
  delivery      = { describe = "keys" }
}
