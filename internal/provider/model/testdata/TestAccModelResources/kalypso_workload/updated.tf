resource "kalypso_workload" "test" {
  name      = "hello-world"
  labels    = { type = "application" }
  workspace = "team"
  deployment_targets = [
    {
      name           = "test"
      environment    = "dev"
      labels         = { purpose = "test" }
      manifests      = { repo = "https://github.com/acme/app", branch = "dev", path = "./test" }
      config_schemas = [jsonencode({ required = ["REGION"] })]
      requires = [
        { workload = "redis" },
        { workload = "auth", deployment_target = "eu", match_labels = { tier = "gold" } },
      ]
    },
    { name = "uat", environment = "stage" },
  ]
  config_schemas = [jsonencode({ type = "object" })]
}
