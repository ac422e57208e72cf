variable "gitops_repo" {
  type = any
}

variable "source_of_reports" {
  type = any
}

variable "options" {
  type    = any
  default = {}
}

data "kalypso_deployment_state" "this" {
  gitops_repo       = var.gitops_repo
  source            = var.source_of_reports
  expected          = lookup(var.options, "expected", null)
  progress_deadline = lookup(var.options, "progress_deadline", null)
  stale_after       = lookup(var.options, "stale_after", null)
  max_failed        = lookup(var.options, "max_failed", null)
  max_unavailable   = lookup(var.options, "max_unavailable", null)
  detail            = lookup(var.options, "detail", null)
  versions          = lookup(var.options, "versions", null)
  timeouts          = lookup(var.options, "timeouts", null)
}

# Nothing in it is sensitive.
output "state" {
  value = data.kalypso_deployment_state.this
}
