resource "kalypso_cluster_type" "test" {
  name              = "larger"
  labels            = { region = "west-us", empty = "" }
  reconciler        = "flux"
  namespace_service = "default"
  config_type       = "configmap"
}
