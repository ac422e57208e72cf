# prod takes the newest commit that ran in stage for four hours.
data "kalypso_promotion" "prod" {
  environment   = "prod"
  control_plane = { repo = "https://github.com/acme/control-plane", branch = "main" }
  gitops_repo   = { repo = "https://github.com/acme/gitops", branch = "prod" }

  after    = { stage = { soak = "4h", by = "acme-ci[bot]" } }
  statuses = ["ci"]
}

# Until something is promoted, there is nothing to render.
data "kalypso_control_plane" "prod" {
  count     = data.kalypso_promotion.prod.commit == null ? 0 : 1
  repo      = "https://github.com/acme/control-plane"
  branch    = "prod"
  promotion = data.kalypso_promotion.prod
}

resource "kalypso_environment_rendering" "prod" {
  count       = data.kalypso_promotion.prod.commit == null ? 0 : 1
  environment = "prod"
  manifests   = data.kalypso_control_plane.prod[0].manifests
  sources     = data.kalypso_control_plane.prod[0].sources
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "prod" }
  promotion   = data.kalypso_promotion.prod
}
