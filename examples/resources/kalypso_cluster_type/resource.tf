resource "kalypso_cluster_type" "drone" {
  name   = "drone"
  labels = { region = "east-us", restricted = "true", edge = "true" }

  reconciler        = "arc-flux"
  namespace_service = "default"
  config_type       = "configmap"
}

# Several cluster types: a rendering accepts the whole resource as cluster_types.
resource "kalypso_cluster_type" "all" {
  for_each = {
    large = { region = "west-us", size = "large" }
    small = { region = "west-us", size = "small" }
  }

  name   = each.key
  labels = each.value

  reconciler        = "argocd"
  namespace_service = "default"
}
