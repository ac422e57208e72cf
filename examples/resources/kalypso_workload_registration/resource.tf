resource "kalypso_workload_registration" "hello_world" {
  name      = "hello-world"
  workspace = "kaizen-app-team"

  workload = {
    repo   = "https://github.com/acme/hello-world"
    branch = "main"
    path   = "workload"
  }
}
