# Tests the values of deployment targets. With preview = "manifests" the plan contains every file.
variables {
  delivery_strategy = "none"
}

run "restricted_clusters_have_a_database_of_their_own" {
  command = plan

  assert {
    condition = (
      yamldecode(kalypso_environment_rendering.this.files["drone/shop-web/platform-config.yaml"]).data.DATABASE_URL
      == "mysql://restricted:3306/shop"
    )
    error_message = "The drone does not use the restricted database."
  }
}

run "the_west_shares_one" {
  command = plan

  assert {
    condition = alltrue([
      for type in ["large", "small"] :
      yamldecode(kalypso_environment_rendering.this.files["${type}/shop-web/platform-config.yaml"]).data.DATABASE_URL
      == "mysql://west:3306/shop"
    ])
    error_message = "A cluster type in the west does not use the database of the west."
  }
}

# Tests that invalid input is rejected.
run "no_size_at_all_is_refused" {
  command = plan

  variables {
    load_test_sizes = []
  }

  expect_failures = [var.load_test_sizes]
}
