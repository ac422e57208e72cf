resource "kalypso_workload_registration" "test" {
  name     = "hello"
  workload = { repo = "https://github.com/acme/app", branch = "main" }
}
