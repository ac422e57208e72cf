variable "repo" {
  type = string
}

variable "round" {
  type = string
}

variable "purpose" {
  type = string
}

variable "on_drift" {
  type    = string
  default = "fail"
}

variable "require_known" {
  type    = bool
  default = null
}

resource "terraform_data" "late" {
  input = { round = var.round, purpose = var.purpose, folder = ".", on_drift = var.on_drift }
}

resource "kalypso_environment_rendering" "this" {
  environment = "dev"
  cluster_types = {
    large = { name = "large", reconciler = "reconciler", namespace_service = "namespace" }
  }
  templates = {
    for type in ["reconciler", "namespace"] : type => {
      name      = type
      type      = type
      manifests = ["# name: {{ .Namespace }}\n"]
    }
  }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_labels = { purpose = "test" } }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads = {
    hello = {
      name = "hello"
      deployment_targets = [
        { name = "test", environment = "dev", labels = { purpose = terraform_data.late.output.purpose } },
      ]
    }
  }
  gitops_repo   = { repo = var.repo, branch = "dev", path = terraform_data.late.output.folder }
  create_branch = true
  on_drift      = terraform_data.late.output.on_drift
  guardrails    = { require_known = var.require_known, unscheduled = "ignore" }
}
