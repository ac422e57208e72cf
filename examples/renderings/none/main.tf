# Computes everything, and contacts and writes nothing: for a check of a fleet in CI, or a first look.
resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = { for f in fileset(path.module, "fleet/**/*.yaml") : f => file("${path.module}/${f}") }

  delivery = { strategy = "none" }
  preview  = "manifests"
}
