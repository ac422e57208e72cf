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

# All deployment targets of a team run everywhere. To select everything, set match_all explicitly.
resource "kalypso_scheduling_policy" "everywhere" {
  name = "everywhere-policy"

  deployment_target_selector = { workspace = "infrastructure-team" }
  cluster_type_selector      = { match_all = true }
}
