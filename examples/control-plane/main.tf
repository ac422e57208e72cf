terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "control_plane_url" {
  description = "URL of the control plane's Git repo."
  type        = string
  default     = "https://git.acme.io/control-plane"
}

variable "allow_local_repos" {
  description = "Whether registrations may name repos on this machine, such as those that run.sh creates."
  type        = bool
  default     = false
}

provider "kalypso" {
  allow_local_repos = var.allow_local_repos
}

# The branch of the workspace's environment, the base that its BaseRepo pins, and the Workloads of its registrations.
data "kalypso_control_plane" "this" {
  repo   = var.control_plane_url
  branch = terraform.workspace
}

resource "kalypso_environment_rendering" "this" {
  environment     = terraform.workspace
  manifests       = data.kalypso_control_plane.this.manifests
  sources         = data.kalypso_control_plane.this.sources
  gitops_repo     = data.kalypso_control_plane.this.gitops_repo
  promoted_commit = data.kalypso_control_plane.this.base_commit
  adopt           = true # the folders that the operator wrote
}
