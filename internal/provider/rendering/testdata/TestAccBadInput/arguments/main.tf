# What the schema refuses, before anything is planned.

resource "kalypso_environment_rendering" "enumerations" {
  environment = "dev"
  delivery    = { strategy = "pull-request" }
  on_drift    = "ignore"
  preview     = "all"
  guardrails  = { unscheduled = "fail" }
  on_destroy  = "delete"
}

resource "kalypso_environment_rendering" "timeouts" {
  environment = "dev"
  delivery    = { strategy = "none" }
  timeouts    = { create = "soon", read = "10" }
}

resource "kalypso_environment_rendering" "types" {
  environment   = ["dev"]
  cluster_types = { large = "large" }
  manifests     = { "a.yaml" = { kind = "ClusterType" } }
  adopt         = "yes"
}

resource "kalypso_environment_rendering" "missing" {
  delivery = { strategy = "none" }
}

resource "kalypso_template" "broken" {
  name      = "broken"
  type      = "reconciler"
  manifests = ["kind: A\n---\nname: {{ .Namespace"]
}
