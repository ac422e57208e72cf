# The clusters' reports are read from a file.
data "kalypso_deployment_state" "stage" {
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "stage" }

  source = {
    reports = jsondecode(file("${path.module}/reports.json"))
  }

  expected = {
    drone = { clusters = ["drone-7", "drone-8"] }
    small = { minimum = 2 }
  }

  stale_after     = "24h" # the clusters are connected once a day
  max_unavailable = "10%"
}

output "stage" {
  value = data.kalypso_deployment_state.stage.summary
}
