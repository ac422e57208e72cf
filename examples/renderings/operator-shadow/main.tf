# Computes everything, and contacts and writes nothing.
resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = merge(local.common, local.environment, local.workloads)

  delivery = { strategy = "none" }
  preview  = "manifests"
}
