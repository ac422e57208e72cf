resource "kalypso_oci_artifacts" "dev" {
  gitops_repo = kalypso_environment_rendering.dev.gitops_repo
  commit      = kalypso_environment_rendering.dev.commit_sha
  repository  = "oci://registry.acme.io/fleet/dev"
  tags        = ["latest"]
}

resource "kalypso_environment_rendering" "dev" {
  environment   = "dev"
  cluster_types = { large = { reconciler = "arc-flux", namespace_service = "default" } }
  gitops_repo   = { repo = "https://github.com/acme/gitops", branch = "dev" }
}

# cosign, flux pull and OCIRepository take an artifact by its digest.
output "large" {
  value = kalypso_oci_artifacts.dev.artifacts["large"].digest
}
