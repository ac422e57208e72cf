variable "git_credentials" {
  type      = list(map(string))
  sensitive = true
  default   = null
}

variable "github" {
  type = object({
    base_url = string
    token    = optional(string)
    app      = optional(object({ id = string, installation_id = string, private_key = string }))
  })
  default = null
}

# The repo of a registration.
variable "registered" {
  type    = string
  default = null
}

variable "gitops_repo" {
  type    = string
  default = null
}

variable "status" {
  type    = object({ repo = string, commit = string })
  default = null
}

provider "kalypso" {
  git_credentials = var.git_credentials
  github          = var.github
}

data "kalypso_workloads" "this" {
  registrations = var.registered == null ? {} : {
    team = { name = "team", workload = { repo = var.registered, branch = "main", path = "." } }
  }
}

resource "kalypso_environment_rendering" "this" {
  count = var.gitops_repo == null ? 0 : 1

  environment   = "dev"
  cluster_types = { large = { name = "large", reconciler = "flux", namespace_service = "flux" } }
  templates     = { flux = { name = "flux", type = "reconciler", manifests = ["# kind: Namespace"] } }
  manifests     = data.kalypso_workloads.this.manifests
  gitops_repo   = { repo = var.gitops_repo, branch = "main" }
  guardrails    = { allow_empty = true }
}

resource "kalypso_commit_status" "this" {
  count = var.status == null ? 0 : 1

  repo    = var.status.repo
  commit  = var.status.commit
  context = "test"
  state   = "success"
}
