# Thousands of assignments: the input is YAML, and the plan has no value for each assignment.
resource "kalypso_environment_rendering" "prod" {
  environment = "prod"
  manifests   = { for f in fileset(path.module, "fleet/**/*.yaml") : f => file("${path.module}/${f}") }

  gitops_repo = {
    repo   = "git@github.com:acme/gitops.git"
    branch = "prod"
  }

  preview    = "none"
  guardrails = { max_removed = "2%", require_known = true }
  timeouts   = { create = "60m", update = "60m" }
}

output "assignment_count" {
  value = kalypso_environment_rendering.prod.assignment_count
}
