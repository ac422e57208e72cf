variable "labels" {
  type    = map(string)
  default = null
}

variable "everything" {
  type    = bool
  default = null
}

resource "kalypso_scheduling_policy" "test" {
  name                       = "p"
  deployment_target_selector = { workspace = "team" }
  cluster_type_selector      = { match_labels = var.labels, match_all = var.everything }
}
