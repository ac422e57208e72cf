# The deliveries to prod in the last 30 days.
data "kalypso_deployment_history" "prod" {
  gitops_repo   = { repo = "https://github.com/acme/gitops", branch = "prod" }
  control_plane = { repo = "https://github.com/acme/control-plane", branch = "main" }
}

# To show it in a pipeline: terraform output -raw history >> "$GITHUB_STEP_SUMMARY"
output "history" {
  value = data.kalypso_deployment_history.prod.summary
}

# Warn if more than every fifth deployment had to be rolled back.
check "change_failure_rate" {
  assert {
    condition     = coalesce(data.kalypso_deployment_history.prod.metrics.change_failure_rate, 0) <= 0.2
    error_message = "More than 20 % of the deployments of the last 30 days were rolled back."
  }
}

# With the store of a kalypso_deployment_record, the history contains what edge-17 ran in the last 30 days.
data "kalypso_deployment_history" "edge_17" {
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "prod" }
  store       = { git = { repo = "https://github.com/acme/gitops", branch = "history" } }
  cluster     = "edge-17"
}

output "edge_17" {
  value = [for run in data.kalypso_deployment_history.edge_17.runs : "${run.since} ${run.deployment_target} ${coalesce(run.version, "none")} ${run.state}"]
}
