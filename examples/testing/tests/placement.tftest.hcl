# Tests the placement of deployment targets. A plan is enough, because it contains the assignments. With the strategy
# "none", it contacts no server.
variables {
  delivery_strategy = "none"
}

run "every_target_has_a_place" {
  command = plan

  assert {
    condition     = length(kalypso_environment_rendering.this.unscheduled) == 0
    error_message = "No policy places ${join(", ", kalypso_environment_rendering.this.unscheduled)}."
  }
}

run "web_goes_everywhere" {
  command = plan

  assert {
    condition = alltrue([
      for targets in values(kalypso_environment_rendering.this.assignments) : contains(keys(targets), "shop-web")
    ])
    error_message = "A cluster type does not run shop-web."
  }
}

run "load_tests_stay_off_small_clusters" {
  command = plan

  assert {
    condition = (
      keys(kalypso_environment_rendering.this.assignments["large"]) == tolist(["shop-load-test", "shop-web"])
    )
    error_message = "Large clusters run web and load tests."
  }

  assert {
    condition     = !contains(keys(kalypso_environment_rendering.this.assignments["small"]), "shop-load-test")
    error_message = "Small clusters run no load tests."
  }
}

run "a_variable_lets_small_clusters_run_them" {
  command = plan

  variables {
    load_test_sizes = ["large", "small"]
  }

  assert {
    condition     = kalypso_environment_rendering.this.assignment_count == 6
    error_message = "All three cluster types run both targets."
  }
}

# A guardrail with a misspelled name is dropped by Terraform: this test would fail.
run "guardrails_apply" {
  command = plan

  assert {
    condition = (
      kalypso_environment_rendering.this.guardrails.max_removed == "20%" &&
      kalypso_environment_rendering.this.guardrails.unscheduled == "error"
    )
    error_message = "The guardrails are ${jsonencode(kalypso_environment_rendering.this.guardrails)}."
  }
}

run "prod_runs_no_load_tests" {
  command = plan

  variables {
    environment = "prod"
  }

  assert {
    condition = !anytrue([
      for targets in values(kalypso_environment_rendering.this.assignments) : contains(keys(targets), "shop-load-test")
    ])
    error_message = "A load test runs in prod."
  }
}
