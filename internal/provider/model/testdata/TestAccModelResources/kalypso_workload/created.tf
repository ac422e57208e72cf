resource "kalypso_workload" "test" {
  name = "hello"
  deployment_targets = [
    { name = "test", environment = "dev" },
  ]
}
