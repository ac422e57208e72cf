variable "gitops" { type = string }
variable "store" { type = any }
variable "postgres_url" {
  type    = string
  default = null
}
variable "deployment" { type = any }
variable "arguments" {
  type    = any
  default = {}
}

provider "kalypso" {
  postgres = { url = var.postgres_url }
}

resource "kalypso_deployment_record" "this" {
  deployment  = var.deployment
  store       = var.store
  environment = try(var.arguments.environment, null)
  renew_after = try(var.arguments.renew_after, null)
  history     = try(var.arguments.history, null)
  timeouts    = { create = "30s", update = "30s", read = "10s" }
}

data "kalypso_deployment_history" "this" {
  gitops_repo       = { repo = var.gitops, branch = "prod" }
  store             = var.store
  cluster           = try(var.arguments.cluster, null)
  deployment_target = try(var.arguments.target, null)
  since             = "2026-01-01T00:00:00Z"
  until             = "2026-02-01T00:00:00Z"
  depends_on        = [kalypso_deployment_record.this]
}

output "history" {
  value = data.kalypso_deployment_history.this
}

output "record" {
  value = {
    at      = kalypso_deployment_record.this.recorded_at
    changes = kalypso_deployment_record.this.changes
    summary = kalypso_deployment_record.this.summary
  }
}
