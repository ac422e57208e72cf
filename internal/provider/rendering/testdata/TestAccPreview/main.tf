variable "repo" {
  type = string
}

variable "preview" {
  type    = string
  default = null
}

variable "promoted_commit" {
  type    = string
  default = null
}

resource "kalypso_template" "all" {
  for_each = toset(["reconciler", "namespace"])

  name      = each.key
  type      = each.key
  manifests = ["# name: {{ .Namespace }}\n"]
}

resource "kalypso_environment_rendering" "this" {
  environment = "dev"
  cluster_types = {
    large = { name = "large", reconciler = "reconciler", namespace_service = "namespace" }
    small = { name = "small", labels = { edge = "true" }, reconciler = "reconciler", namespace_service = "namespace" }
  }
  templates = kalypso_template.all
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_labels = { edge = "true" } }
    }
  }
  workloads = {
    hello = { name = "hello", deployment_targets = [{ name = "test", environment = "dev" }] }
  }
  gitops_repo     = { repo = var.repo, branch = "dev" }
  promoted_commit = var.promoted_commit
  preview         = var.preview
  create_branch   = true
}
