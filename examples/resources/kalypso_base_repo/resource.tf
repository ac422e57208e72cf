# The operator renders stage. It gets each commit that ran in dev for an hour, by pull request.
data "kalypso_promotion" "stage" {
  environment   = "stage"
  control_plane = { repo = "https://github.com/acme/control-plane", branch = "main" }
  gitops_repo   = { repo = "https://github.com/acme/gitops", branch = "stage" }
  after         = { dev = { soak = "1h", by = "acme-ci[bot]" } }
}

resource "kalypso_base_repo" "stage" {
  repo      = "https://github.com/acme/control-plane"
  branch    = "stage"
  promotion = data.kalypso_promotion.stage
  delivery  = { strategy = "pull_request", labels = ["stage"] }
}
