# Only computes the tree, and delivers nothing.
resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = data.kalypso_control_plane.dev.manifests
  sources     = data.kalypso_control_plane.dev.sources

  delivery = { strategy = "none" }
  preview  = "manifests"
}
