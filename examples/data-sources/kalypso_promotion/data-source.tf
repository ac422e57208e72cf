# prod takes the newest commit that ran in stage for four hours.
data "kalypso_promotion" "prod" {
  environment   = "prod"
  control_plane = { repo = "https://github.com/acme/control-plane", branch = "main" }
  gitops_repo   = { repo = "https://github.com/acme/gitops", branch = "prod" }

  after    = { stage = { soak = "4h", by = "acme-ci[bot]" } }
  statuses = { ci = { by = "github-actions[bot]" } }
}

# Until something is promoted, the manifests are empty, and nothing is delivered.
data "kalypso_control_plane" "prod" {
  repo      = "https://github.com/acme/control-plane"
  branch    = "prod"
  promotion = data.kalypso_promotion.prod
}

resource "kalypso_environment_rendering" "prod" {
  environment = "prod"
  manifests   = data.kalypso_control_plane.prod.manifests
  sources     = data.kalypso_control_plane.prod.sources
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "prod" }
  promotion   = data.kalypso_promotion.prod
}
