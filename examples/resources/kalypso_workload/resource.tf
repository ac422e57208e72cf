resource "kalypso_workload" "hello_world" {
  name      = "hello-world"
  workspace = "kaizen-app-team"
  labels    = { type = "application", family = "force" }

  deployment_targets = [
    {
      name        = "functional-test"
      environment = "dev"
      labels      = { purpose = "functional-test", edge = "true" }
      manifests = {
        repo   = "https://github.com/acme/hello-world-gitops"
        branch = "dev"
        path   = "./functional-test"
      }
    },
    {
      name        = "uat-test"
      environment = "stage"
      labels      = { purpose = "uat-test" }
      manifests = {
        repo   = "https://github.com/acme/hello-world-gitops"
        branch = "stage"
        path   = "./uat-test"
      }

      # The platform configuration that this target needs.
      config_schemas = [jsonencode({ required = ["DATABASE_URL"] })]
    },
  ]
}
