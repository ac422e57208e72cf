variable "tests_passed" {
  type    = bool
  default = true
}

# The branch rules of acme/control-plane ask for "kalypso/dev" before a commit is promoted.
resource "kalypso_commit_status" "dev" {
  repo        = "https://github.com/acme/control-plane"
  commit      = "0123456789abcdef0123456789abcdef01234567"
  context     = "kalypso/dev"
  state       = var.tests_passed ? "success" : "failure"
  description = "Rolled out to dev"
  target_url  = "https://ci.acme.io/runs/1"
}
