# A fleet in HCL: two cluster types, one workload, one policy.
resource "kalypso_cluster_type" "all" {
  for_each = {
    large = { region = "west-us", size = "large" }
    small = { region = "west-us", size = "small" }
  }

  name              = each.key
  labels            = each.value
  reconciler        = kalypso_template.flux.name
  namespace_service = kalypso_template.namespace.name
}

resource "kalypso_template" "flux" {
  name      = "flux"
  type      = "reconciler"
  manifests = [file("${path.module}/templates/flux.yaml")]
}

resource "kalypso_template" "namespace" {
  name      = "namespace"
  type      = "namespace"
  manifests = ["{apiVersion: v1, kind: Namespace, metadata: {name: '{{ .Namespace }}'}}"]
}

resource "kalypso_workload" "hello_world" {
  name = "hello-world"

  deployment_targets = [{
    name        = "functional-test"
    environment = "dev"
    labels      = { purpose = "functional-test" }
    manifests   = { repo = "https://github.com/acme/hello-world-gitops", branch = "dev", path = "./functional-test" }
  }]
}

resource "kalypso_scheduling_policy" "functional_test" {
  name                       = "functional-test-policy"
  deployment_target_selector = { match_labels = { purpose = "functional-test" } }
  cluster_type_selector      = { match_labels = { size = "large" } }
}

# Schedules the fleet for one environment, and commits the tree to a branch of the GitOps repo.
resource "kalypso_environment_rendering" "dev" {
  environment = "dev"

  # A resource with for_each is a map; put a single resource into a map.
  cluster_types       = kalypso_cluster_type.all
  templates           = { flux = kalypso_template.flux, namespace = kalypso_template.namespace }
  scheduling_policies = { functional_test = kalypso_scheduling_policy.functional_test }
  workloads           = { hello_world = kalypso_workload.hello_world }

  # An object can also be written inline.
  configs = {
    west_us = { name = "west-us-config", labels = { region = "west-us" }, data = { REGION = "West US" } }
  }

  # Kalypso YAML is passed as it is.
  manifests = { for f in fileset(path.module, "fleet/**/*.yaml") : f => file("${path.module}/${f}") }

  gitops_repo = {
    repo   = "https://github.com/acme/gitops"
    branch = "dev"
    path   = "clusters"
  }

  guardrails = { max_removed = "20%", unscheduled = "error" }
  preview    = "manifests"
}

# The folder that each cluster type syncs.
output "folders" {
  value = { for name, folder in kalypso_environment_rendering.dev.folders : name => folder.path }
}
