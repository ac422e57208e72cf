variable "gitops" { type = string }
variable "control_plane" { type = string }
variable "github" { type = any }
variable "arguments" { type = any }

provider "kalypso" {
  github = var.github
}

data "kalypso_deployment_history" "this" {
  gitops_repo   = { repo = var.gitops, branch = "prod", path = "." }
  control_plane = var.control_plane == "" ? null : { repo = var.control_plane, branch = "main" }
  since         = try(var.arguments.since, null)
  until         = try(var.arguments.until, null)
  limit         = try(var.arguments.limit, null)
}

output "history" {
  value = data.kalypso_deployment_history.this
}
