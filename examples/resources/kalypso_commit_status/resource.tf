variable "tests_passed" {
  type    = bool
  default = true
}

# The branch rules of acme/control-plane require "kalypso/dev" before a commit is promoted.
resource "kalypso_commit_status" "dev" {
  repo        = "https://github.com/acme/control-plane"
  commit      = "0123456789abcdef0123456789abcdef01234567"
  context     = "kalypso/dev"
  state       = var.tests_passed ? "success" : "failure"
  description = "Rolled out to dev"
  target_url  = "https://ci.acme.io/runs/1"
}

# The verdict on the deployment becomes the status of the deployed commit of the control plane.
data "kalypso_deployment_state" "stage" {
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "stage" }
  source      = { azure_resource_graph = { subscriptions = ["00000000-0000-0000-0000-000000000000"] } }
}

resource "kalypso_commit_status" "stage" {
  repo        = "https://github.com/acme/control-plane"
  context     = "stage environment"
  deployment  = data.kalypso_deployment_state.stage
  renew_after = "30m"
}
