variable "gitops_repo_url" {
  description = "URL of the GitOps repo, or of a copy of it for a rehearsal."
  type        = string
  default     = "https://github.com/acme/gitops"
}

resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = data.kalypso_control_plane.dev.manifests
  sources     = data.kalypso_control_plane.dev.sources

  gitops_repo = {
    repo   = var.gitops_repo_url
    branch = "dev"
  }
  promoted_commit = data.kalypso_control_plane.dev.base_commit

  # The branch contains the tree that the Kalypso operator wrote.
  adopt = true
}
