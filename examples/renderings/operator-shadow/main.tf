# Computes everything, and writes nothing.
resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = local.yaml

  delivery = { strategy = "none" }
  preview  = "manifests"
}
