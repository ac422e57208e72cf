# A cluster type is a set of similar clusters. Policies and configs select it by its labels; reconciler,
# namespace_service and config_type name the templates that render its assignments.
locals {
  cluster_types = {
    large = {
      labels     = { region = "west-us", size = "large" }
      reconciler = module.templates.all.flux.name
    }
    small = {
      labels     = { region = "west-us", size = "small" }
      reconciler = module.templates.all.argocd.name
    }
    drone = {
      labels     = { region = "east-us", restricted = "true", edge = "true" }
      reconciler = module.templates.all.flux.name
    }
  }
}

resource "kalypso_cluster_type" "all" {
  for_each = local.cluster_types

  name   = each.key
  labels = each.value.labels

  reconciler        = each.value.reconciler
  namespace_service = module.templates.all.namespace.name
  config_type       = kalypso_template.configmap.name
}
