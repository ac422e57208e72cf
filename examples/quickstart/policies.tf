# The functional test runs on the restricted clusters at the edge: drone.
resource "kalypso_scheduling_policy" "functional_test" {
  name = "functional-test-policy"

  deployment_target_selector = {
    workspace    = "kaizen-app-team"
    match_labels = { purpose = "functional-test", edge = "true" }
  }

  cluster_type_selector = {
    match_labels = { restricted = "true", edge = "true" }
  }
}

# The performance test runs on the cluster types of the sizes in the variable.
resource "kalypso_scheduling_policy" "performance_test" {
  name = "performance-test-policy"

  deployment_target_selector = {
    workspace    = "kaizen-app-team"
    match_labels = { purpose = "performance-test", edge = "false" }
  }

  cluster_type_selector = {
    match_expressions = [
      { key = "size", operator = "In", values = var.performance_test_sizes },
    ]
  }
}

# The user acceptance test runs everywhere. To select everything, set match_all explicitly.
resource "kalypso_scheduling_policy" "uat_test" {
  name = "uat-test-policy"

  deployment_target_selector = {
    workspace    = "kaizen-app-team"
    match_labels = { purpose = "uat-test" }
  }

  cluster_type_selector = {
    match_all = true
  }
}
