resource "kalypso_scheduling_policy" "test" {
  name                       = "all"
  deployment_target_selector = { match_all = true }
  cluster_type_selector      = { match_all = true }
}
