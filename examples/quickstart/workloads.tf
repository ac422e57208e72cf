# The application team's workload: where its manifests lie for each of its deployment targets. A target exists in its own
# environment alone: in dev the first two, in stage the last.
resource "kalypso_workload" "hello_world_app" {
  name      = "hello-world-app"
  workspace = "kaizen-app-team"

  labels = {
    type   = "application"
    family = "force"
  }

  deployment_targets = [
    {
      name        = "functional-test"
      environment = "dev"
      labels      = { purpose = "functional-test", edge = "true" }
      manifests = {
        repo   = "https://github.com/microsoft/kalypso-app-gitops"
        branch = "dev"
        path   = "./functional-test"
      }
    },
    {
      name        = "performance-test"
      environment = "dev"
      labels      = { purpose = "performance-test", edge = "false" }
      manifests = {
        repo   = "https://github.com/microsoft/kalypso-app-gitops"
        branch = "dev"
        path   = "./performance-test"
      }
    },
    {
      name        = "uat-test"
      environment = "stage"
      labels      = { purpose = "uat-test" }
      manifests = {
        repo   = "https://github.com/microsoft/kalypso-app-gitops"
        branch = "stage"
        path   = "./uat-test"
      }
    },
  ]
}
