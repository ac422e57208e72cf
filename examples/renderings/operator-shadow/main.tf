# Computes everything, and writes nothing.
resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = data.kalypso_control_plane.dev.manifests

  delivery = { strategy = "none" }
  preview  = "manifests"
}
