resource "kalypso_workload_registration" "test" {
  name      = "hello-world"
  labels    = { a = "b" }
  workspace = "team"
  workload  = { repo = "https://github.com/acme/app", branch = "main", path = "workload" }
}
