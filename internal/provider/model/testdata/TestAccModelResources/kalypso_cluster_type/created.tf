resource "kalypso_cluster_type" "test" {
  name              = "large"
  reconciler        = "argocd"
  namespace_service = "default"
}
