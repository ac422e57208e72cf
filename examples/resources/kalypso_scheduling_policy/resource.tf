# The functional tests of a team go to the restricted clusters at the edge.
resource "kalypso_scheduling_policy" "functional_test" {
  name = "functional-test-policy"

  deployment_target_selector = {
    workspace    = "kaizen-app-team"
    match_labels = { purpose = "functional-test" }
  }

  cluster_type_selector = {
    match_labels = { restricted = "true" }
    match_expressions = [
      { key = "size", operator = "NotIn", values = ["small"] },
      { key = "edge", operator = "Exists" },
    ]
  }
}

# All of a team's deployment targets go everywhere. A selector that selects everything must say so.
resource "kalypso_scheduling_policy" "everywhere" {
  name = "everywhere-policy"

  deployment_target_selector = { workspace = "infrastructure-team" }
  cluster_type_selector      = { match_all = true }
}
