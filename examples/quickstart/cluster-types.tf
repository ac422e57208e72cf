# A cluster type is a set of similar clusters. Policies and configs select it by its labels; reconciler,
# namespace_service and config_type name the templates that render its assignments.
locals {
  cluster_types = {
    large = {
      labels     = { region = "west-us", size = "large" }
      reconciler = kalypso_template.arc_flux.name
    }
    small = {
      labels     = { region = "west-us", size = "small" }
      reconciler = kalypso_template.argocd.name
    }
    drone = {
      labels     = { region = "east-us", restricted = "true", edge = "true" }
      reconciler = kalypso_template.arc_flux.name
    }
  }
}

resource "kalypso_cluster_type" "all" {
  for_each = local.cluster_types

  name   = each.key
  labels = each.value.labels

  reconciler        = each.value.reconciler
  namespace_service = kalypso_template.default.name
  config_type       = kalypso_template.configmap.name
}
