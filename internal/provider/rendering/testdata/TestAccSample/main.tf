variable "repo" {
  type = string
}

variable "samples" {
  type = string
}

# What the golden fleet sample-dev adds to the sample.
variable "additions" {
  type = map(string)
}

locals {
  control_plane = {
    for f in fileset(var.samples, "kalypso-control-plane/{main,dev}/**/*.yaml") :
    f => file("${var.samples}/${f}")
  }

  workspaces = {
    "kalypso-app-src/main/workload/workload.yaml"       = "kaizen-app-team"
    "kalypso-svc-src/main/workloads/observability.yaml" = "platform-team"
  }

  # The Workload documents do not say in whose workspace they are.
  workload_documents = { for f, workspace in local.workspaces : f => yamldecode(file("${var.samples}/${f}")) }
  workloads = { for f, w in local.workload_documents : f => yamlencode(merge(w, {
    metadata = merge(w.metadata, { labels = merge(w.metadata.labels, { workspace = local.workspaces[f] }) })
  })) }

  base = yamldecode(file("${var.samples}/kalypso-control-plane/dev/base-repo.yaml"))
}

resource "kalypso_environment_rendering" "dev" {
  environment     = "dev"
  manifests       = merge(local.control_plane, local.workloads, var.additions)
  gitops_repo     = { repo = var.repo, branch = "dev" }
  promoted_commit = local.base.spec.commit
  create_branch   = true
}
