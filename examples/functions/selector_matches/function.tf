resource "kalypso_scheduling_policy" "functional_test" {
  name                       = "functional-test-policy"
  deployment_target_selector = { workspace = "kaizen-app-team", match_labels = { purpose = "functional-test" } }
  cluster_type_selector      = { match_labels = { restricted = "true" } }
}

# A test of a policy: restricted cluster types never host a performance test.
check "performance_test" {
  assert {
    condition = !provider::kalypso::selector_matches(
      kalypso_scheduling_policy.functional_test.deployment_target_selector,
      { workspace = "kaizen-app-team", purpose = "performance-test" },
    )
    error_message = "The policy selects a performance test for restricted cluster types."
  }
}
