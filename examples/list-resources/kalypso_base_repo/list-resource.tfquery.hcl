# The environments that the operator renders: the branches with a base-repo.yaml.
list "kalypso_base_repo" "all" {
  provider = kalypso

  config {
    repo     = "https://github.com/acme/control-plane"
    branches = ["*"]
  }
}
