resource "kalypso_cluster_type" "large" {
  name              = "large"
  reconciler        = "reconciler"
  namespace_service = "namespace"
  taints            = [{ key = "pci" }, { key = "old", effect = "NoSchedule" }]
  properties        = { cpu = "many" }
}

resource "kalypso_scheduling_policy" "bad" {
  name                       = "bad"
  deployment_target_selector = { match_all = true }
  cluster_type_selector      = { match_all = true }
  placement = {
    number_of_cluster_types = 0
    tolerations             = [{ value = "true", operator = "Equal" }]
    prefer                  = [{ property = "cpu", weight = 0 }, { balance = true, weight = 11 }]
    spread                  = [{ key = "region" }, { key = "region", max_skew = 2 }]
  }
}
