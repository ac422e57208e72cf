resource "kalypso_cluster_type" "large" {
  name              = "large"
  labels            = { region = "west-us" }
  reconciler        = "argocd"
  namespace_service = "default"
}

# The document of the cluster type, for a file of a control plane.
output "large" {
  value = provider::kalypso::manifest(kalypso_cluster_type.large)
}

# An object written inline has the same document.
output "config" {
  value = provider::kalypso::manifest({
    name   = "west-us-config"
    labels = { region = "west-us" }
    data   = { REGION = "West US" }
  })
}
