variable "selected" {
  type = string
}

variable "create" {
  type    = bool
  default = false
}

variable "require_known" {
  type    = bool
  default = false
}

# A cluster, whose region is known after apply.
resource "terraform_data" "cluster" {
  count = var.create ? 1 : 0
  input = "westeurope"
}

resource "kalypso_environment_rendering" "this" {
  environment = "dev"
  cluster_types = merge(
    {
      large = {
        name              = "large"
        labels            = { size = "large", region = "northeurope" }
        reconciler        = "flux"
        namespace_service = "namespace"
      }
    },
    { for cluster in terraform_data.cluster : "new" => {
      name              = "new"
      labels            = { size = "large", region = cluster.output }
      reconciler        = "flux"
      namespace_service = "namespace"
    } },
  )
  templates = {
    flux      = { name = "flux", type = "reconciler", manifests = ["# path: {{ .Manifests.path }}"] }
    namespace = { name = "namespace", type = "namespace", manifests = ["# name: {{ .Namespace }}"] }
  }
  configs = { large = { name = "large", labels = { size = "large" }, data = { A = "1" } } }
  workloads = {
    app = { name = "app", deployment_targets = [{ name = "web", environment = "dev", manifests = { path = "./web" } }] }
  }
  scheduling_policies = { all = {
    name                       = "all"
    deployment_target_selector = { match_all = true }
    cluster_type_selector      = { match_expressions = [{ key = var.selected, operator = "Exists" }] }
  } }
  delivery   = { strategy = "none" }
  guardrails = { require_known = var.require_known }
}
