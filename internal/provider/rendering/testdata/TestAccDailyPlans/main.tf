variable "url" {
  type = string
}

variable "password" {
  type      = string
  sensitive = true
}

provider "kalypso" {
  git_credentials = [{ url = var.url, username = "me", password = var.password }]
}

data "kalypso_control_plane" "dev" {
  repo   = "${var.url}/kalypso-control-plane"
  branch = "dev"
}

resource "kalypso_environment_rendering" "dev" {
  environment         = "dev"
  manifests           = sensitive(data.kalypso_control_plane.dev.manifests)
  sources             = data.kalypso_control_plane.dev.sources
  promoted_commit     = data.kalypso_control_plane.dev.base_commit
  gitops_repo         = data.kalypso_control_plane.dev.gitops_repo
  preview             = "none"
  adopt               = true
  deletion_protection = false
  guardrails          = { emptied = "ignore", unscheduled = "ignore" }
}
