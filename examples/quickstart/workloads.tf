# The application team's workload: the location of the manifests of each deployment target. A target exists only in its
# own environment: the first two in dev, the last in stage.
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
