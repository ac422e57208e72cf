variable "gitlab" { type = object({ base_url = string, token = string }) }
variable "gitops" { type = string }
variable "environments" { type = number }

provider "kalypso" {
  gitlab = var.gitlab
}

resource "kalypso_environment_rendering" "this" {
  for_each    = toset([for n in range(var.environments) : "env-${n}"])
  environment = each.key
  cluster_types = { large = {
    name = "large", reconciler = "reconciler", namespace_service = "namespace"
  } }
  templates = { for type in ["reconciler", "namespace"] : type => {
    name = type, type = type, manifests = [<<-EOT
      apiVersion: v1
      kind: ConfigMap
      metadata: { name: "${type}-{{ .Namespace }}" }
    EOT
    ]
  } }
  scheduling_policies = { all = {
    name                       = "all"
    deployment_target_selector = { match_all = true }
    cluster_type_selector      = { match_all = true }
  } }
  workloads = { app = {
    name               = "app"
    deployment_targets = [{ name = "a", environment = each.key }]
  } }
  gitops_repo = { repo = var.gitops, branch = each.key }
  delivery    = { strategy = "pull_request" }
}
