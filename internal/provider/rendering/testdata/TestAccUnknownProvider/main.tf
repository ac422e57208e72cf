variable "url" {
  type = string
}

variable "password" {
  type = string
}

variable "round" {
  type = string
}

resource "terraform_data" "password" {
  input = { password = var.password, round = var.round }
}

provider "kalypso" {
  git_credentials = [{ url = var.url, username = "kalypso", password = terraform_data.password.output.password }]
}

resource "kalypso_template" "all" {
  for_each = toset(["reconciler", "namespace"])

  name      = each.key
  type      = each.key
  manifests = ["# name: {{ .Namespace }}\n# round: ${var.round}\n"]
}

resource "kalypso_environment_rendering" "this" {
  environment = "dev"
  cluster_types = {
    large = { name = "large", reconciler = "reconciler", namespace_service = "namespace" }
  }
  templates = kalypso_template.all
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads = {
    hello = { name = "hello", deployment_targets = [{ name = "test", environment = "dev" }] }
  }
  gitops_repo   = { repo = var.url, branch = "dev" }
  preview       = "manifests"
  create_branch = true
}
