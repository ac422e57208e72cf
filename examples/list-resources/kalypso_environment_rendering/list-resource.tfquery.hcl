# The renderings of three environments and of all that begin with "edge/".
list "kalypso_environment_rendering" "all" {
  provider = kalypso

  config {
    repo     = "https://github.com/acme/gitops"
    branches = ["dev", "stage", "prod", "edge/*"]
  }
}
