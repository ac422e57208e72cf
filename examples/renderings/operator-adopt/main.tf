variable "gitops_repo_url" {
  description = "URL of the GitOps repo; that of a copy to rehearse with."
  type        = string
  default     = "https://github.com/acme/gitops"
}

variable "promoted_commit" {
  description = "The commit in the BaseRepo: what control-plane/main is a checkout of."
  type        = string
}

resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = { for f in fileset(path.module, "control-plane/**/*.yaml") : f => file("${path.module}/${f}") }

  gitops_repo = {
    repo   = var.gitops_repo_url
    branch = "dev"
  }
  promoted_commit = var.promoted_commit

  # The branch holds the tree that the Kalypso operator wrote.
  adopt = true
}
