# Reports what an environment runs as a commit status, which the next environment reads. It is a separate root module,
# so that no hotfix waits for it.
variable "tenant_id" { type = string }
variable "client_id" { type = string }

variable "subscription_id" {
  description = "The Azure subscription of the environment's clusters."
  type        = string
}

provider "kalypso" {
  azure = { tenant_id = var.tenant_id, client_id = var.client_id, use_oidc = true }
}

locals {
  environment = terraform.workspace
}

data "kalypso_deployment_state" "this" {
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = local.environment }
  source      = { azure_resource_graph = { subscriptions = [var.subscription_id] } }
}

resource "kalypso_commit_status" "this" {
  repo        = "https://github.com/acme/control-plane"
  context     = "${local.environment} environment"
  deployment  = data.kalypso_deployment_state.this
  renew_after = "30m"
}
