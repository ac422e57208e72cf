variable "azure" {
  type    = any
  default = null
}

variable "gitops_repo" {
  type = any
}

variable "source_of_reports" {
  type = any
}

variable "goal" {
  type = any
}

variable "options" {
  type    = any
  default = {}
}

provider "kalypso" {
  azure = var.azure
}

resource "kalypso_deployment_gate" "this" {
  gitops_repo       = var.gitops_repo
  source            = var.source_of_reports
  tree_hash         = lookup(var.goal, "tree_hash", null)
  commit            = lookup(var.goal, "commit", null)
  poll_interval     = "200ms"
  progress_deadline = lookup(var.options, "progress_deadline", "1000000h")
  timeouts          = lookup(var.options, "timeouts", null)
}
