# Computes everything without contacting a server or writing files, to check a fleet in CI or to try it.
resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = { for f in fileset(path.module, "fleet/**/*.yaml") : f => file("${path.module}/${f}") }

  delivery = { strategy = "none" }
  preview  = "manifests"
}
