# How stage differs from prod.
data "kalypso_comparison" "stage_prod" {
  left  = { repo = "https://github.com/acme/gitops", branch = "stage" }
  right = { repo = "https://github.com/acme/gitops", branch = "prod" }

  ignore        = ["*.ENVIRONMENT"]
  match         = { prod-large = "stage-large" } # right → left
  control_plane = { repo = "https://github.com/acme/control-plane", branch = "main" }
}

# To show it in a pipeline: terraform output -raw differences >> "$GITHUB_STEP_SUMMARY"
output "differences" {
  value = data.kalypso_comparison.stage_prod.summary
}

# Warn if a database differs.
check "same_database" {
  assert {
    condition = alltrue(flatten([
      for target, types in data.kalypso_comparison.stage_prod.configs : [
        for type, keys in types : !contains(keys(keys), "DATABASE_URL")
      ]
    ]))
    error_message = "stage and prod use different databases."
  }
}
