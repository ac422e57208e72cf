variable "cases" {
  type = map(object({ labels = optional(map(string)), everything = optional(bool) }))
}

resource "kalypso_scheduling_policy" "test" {
  for_each                   = var.cases
  name                       = each.key
  deployment_target_selector = { workspace = "team" }
  cluster_type_selector      = { match_labels = each.value.labels, match_all = each.value.everything }
}
