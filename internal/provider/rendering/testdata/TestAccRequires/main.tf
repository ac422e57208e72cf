# A fleet on two cluster types, whose deployment targets require each other as fleet.json says.
terraform {
  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "repo" {
  type = string
}

provider "kalypso" {}

locals {
  fleet = jsondecode(file("fleet.json"))

  cluster_types = { for size in ["large", "small"] : size => {
    name = size, labels = { (size) = "yes" }, reconciler = "reconciler", namespace_service = "namespace"
  } }
  templates = {
    namespace = { name = "namespace", type = "namespace", manifests = ["{apiVersion: v1, kind: Namespace, metadata: {name: {{ .Namespace }}}}\n"] }
    reconciler = { name = "reconciler", type = "reconciler", manifests = [
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: {{ .Namespace }}}, data: {on: \"{{ range .Requires }}{{ .Name }} {{ end }}\"}}\n",
    ] }
  }
  scheduling_policies = { for on in ["large", "small", "all"] : on => {
    name                       = on
    deployment_target_selector = { match_labels = { on = on } }
    cluster_type_selector      = { match_all = on == "all", match_labels = { for label in [on] : label => "yes" if on != "all" } }
  } }
  workloads = { for name, w in local.fleet.workloads : name => {
    name = name
    deployment_targets = [{
      name = "main", environment = "dev", labels = { on = w.on }, requires = [for of in w.requires : { workload = of }]
    }]
  } }
}

resource "kalypso_environment_rendering" "this" {
  environment         = "dev"
  cluster_types       = local.cluster_types
  templates           = local.templates
  scheduling_policies = local.scheduling_policies
  workloads           = { for name, w in local.workloads : name => w if !local.fleet.yaml }
  manifests           = { for name, w in local.workloads : name => provider::kalypso::manifest(w) if local.fleet.yaml }

  gitops_repo         = { repo = "file://${var.repo}", branch = "dev" }
  delivery            = { describe = "keys" }
  create_branch       = true
  on_assignment_error = local.fleet.on_assignment_error
  guardrails          = { requires = local.fleet.guardrail, max_removed = "100%", max_kept = "100%", moved = "ignore", emptied = "ignore" }
}

data "kalypso_assignments" "this" {
  environment         = "dev"
  cluster_types       = local.cluster_types
  templates           = local.templates
  scheduling_policies = local.scheduling_policies
  workloads           = local.workloads
}

output "requires" {
  value = { for a in data.kalypso_assignments.this.assignments : "${a.cluster_type}/${a.deployment_target}" => [
    for r in a.requires : "${r.workload}: ${r.missing == null ? join(" ", r.satisfied_by) : r.missing}"
  ] if length(a.requires) > 0 }
}

output "description" {
  value = kalypso_environment_rendering.this.description
}
