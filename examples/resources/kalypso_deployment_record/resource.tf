data "kalypso_deployment_state" "prod" {
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "prod" }
  source      = { azure_resource_graph = { subscriptions = ["00000000-0000-0000-0000-000000000000"] } }
  versions    = true
}

# On a separate branch, which needs no server.
resource "kalypso_deployment_record" "prod" {
  deployment = data.kalypso_deployment_state.prod
  store      = { git = { repo = "https://github.com/acme/gitops", branch = "history" } }
}

# In PostgreSQL, for SQL and dashboards. The provider's postgres.url, or KALYPSO_POSTGRES_URL, names the server.
data "kalypso_deployment_history" "prod" {
  gitops_repo   = { repo = "https://github.com/acme/gitops", branch = "prod" }
  control_plane = { repo = "https://github.com/acme/control-plane", branch = "main" }
}

resource "kalypso_deployment_record" "prod_sql" {
  deployment  = data.kalypso_deployment_state.prod
  history     = data.kalypso_deployment_history.prod
  store       = { postgres = {} }
  renew_after = "24h"
}
