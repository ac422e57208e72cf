resource "kalypso_scheduling_policy" "test" {
  name   = "some"
  labels = { a = "b" }
  deployment_target_selector = {
    workspace    = "team"
    match_labels = { purpose = "test" }
  }
  cluster_type_selector = {
    match_labels = { region = "west-us" }
    match_expressions = [
      { key = "size", operator = "In", values = ["small", "large"] },
      { key = "edge", operator = "DoesNotExist" },
    ]
  }
}
