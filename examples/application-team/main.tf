terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "sha" {
  description = "The commit of this repo to plan: the full hash."
  type        = string
}

variable "environment" {
  description = "The environment to plan."
  type        = string
  default     = "dev"
}

variable "unscheduled" {
  description = "The reaction to targets that no policy places."
  type        = string
  default     = "error"
}

variable "git_url" {
  description = "The URL of the folder that contains the repos."
  type        = string
  default     = "https://git.acme.io"
}

variable "allow_local_repos" {
  description = "Whether registrations may name repos on this machine, such as those that run.sh creates."
  type        = bool
  default     = false
}

provider "kalypso" {
  allow_local_repos = var.allow_local_repos
}

# The platform team's objects of the environment. The pipeline needs no access to the repos of other teams.
data "kalypso_control_plane" "this" {
  repo                 = "${var.git_url}/control-plane"
  branch               = var.environment
  follow_registrations = false
}

# This team's Workloads, read as by the registration, but at the commit of the pull request.
data "kalypso_workloads" "shop" {
  registrations = {
    shop = {
      name      = "shop"
      workspace = "shop-team"
      workload  = { repo = "${var.git_url}/shop", branch = "main", path = "./workload" }
    }
  }
  pins = { shop = var.sha }
}

locals {
  manifests = merge(data.kalypso_control_plane.this.manifests, data.kalypso_workloads.shop.manifests)
  sources   = merge(data.kalypso_control_plane.this.sources, data.kalypso_workloads.shop.sources)
}

# The placement of the targets, with the reasons.
data "kalypso_assignments" "this" {
  environment = var.environment
  manifests   = local.manifests
}

output "placed" {
  description = "The cluster types and their targets, with the policies that placed them."
  value = {
    for a in data.kalypso_assignments.this.assignments :
    "${a.cluster_type}/${a.deployment_target}" => a.policies
  }
}

output "nowhere" {
  description = "Targets that no policy places, with what each policy asks for."
  value = {
    for target in data.kalypso_assignments.this.unscheduled :
    target.deployment_target => { for r in target.reasons : r.policy => r.reason }
  }
}

# The changed files. With the strategy "none", the provider only computes them and does not write to the GitOps
# repo.
resource "kalypso_environment_rendering" "this" {
  environment = var.environment
  manifests   = local.manifests
  sources     = local.sources
  delivery    = { strategy = "none", describe = "keys" }
  preview     = "manifests"
  guardrails  = { unscheduled = var.unscheduled }
}
