variable "gitops_repo_url" {
  description = "URL of the GitOps repo; that of a copy to rehearse with."
  type        = string
  default     = "https://github.com/acme/gitops"
}

resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = data.kalypso_control_plane.dev.manifests

  gitops_repo = {
    repo   = var.gitops_repo_url
    branch = "dev"
  }
  promoted_commit = data.kalypso_control_plane.dev.base_commit

  # The branch holds the tree that the Kalypso operator wrote.
  adopt = true
}

# The plan after something moved shows what, from which commit to which.
output "commits" {
  value = merge(data.kalypso_control_plane.dev.workload_commits, { control-plane = data.kalypso_control_plane.dev.commit })
}
