# Each golden fleet with its reasons.
locals {
  fleets = jsondecode(file("fleets.json"))
}

data "kalypso_assignments" "golden" {
  for_each = local.fleets

  environment = each.value.environment
  manifests = {
    for f in fileset("${path.module}/fleets/${each.key}", "**") :
    f => file("${path.module}/fleets/${each.key}/${f}")
  }
  explain = each.value.preview == "manifests"
}

# A fleet of nothing.
data "kalypso_assignments" "empty" {
  environment = "dev"
}

# A template that fails and values that a schema refuses hide neither the schedule nor the values.
data "kalypso_assignments" "failing" {
  environment   = "dev"
  cluster_types = { large = { name = "large", reconciler = "broken", namespace_service = "failing" } }
  templates = {
    broken  = { name = "broken", type = "reconciler", manifests = ["{{ end }}"] }
    failing = { name = "failing", type = "namespace", manifests = ["{{ .Labels.none }}"] }
  }
  config_schemas = { strict = { name = "strict", schema = jsonencode({ required = ["B"] }) } }
  configs = {
    one = { name = "one", data = { A = "[1, {b: c}]" } }
    two = { name = "two", data = { A = "[2]" } }
  }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads = { hello = { name = "hello", deployment_targets = [{ name = "app", environment = "dev" }] } }
  explain   = true
}

# The values of one deployment target alone.
data "kalypso_assignments" "some" {
  environment   = "dev"
  cluster_types = { large = { name = "large", reconciler = "t", namespace_service = "t" } }
  templates     = { t = { name = "t", type = "reconciler", manifests = [""] } }
  configs       = { one = { name = "one", data = { A = "B" } } }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads = {
    hello = {
      name               = "hello"
      deployment_targets = [{ name = "app", environment = "dev" }, { name = "job", environment = "dev" }]
    }
  }
  explain         = true
  explain_targets = [var.target]
}

variable "target" {
  type    = string
  default = "hello-app"
}
