resource "kalypso_oci_artifacts" "dev" {
  gitops_repo = kalypso_environment_rendering.dev.gitops_repo
  commit      = kalypso_environment_rendering.dev.commit_sha
  repository  = "oci://registry.acme.io/fleet/dev"
  tags        = ["latest"]
  signing     = { key = var.cosign_key, password = var.cosign_password } # Terraform or OpenTofu 1.11
}

variable "cosign_key" {
  description = "The file cosign.key of cosign generate-key-pair."
  type        = string
  sensitive   = true
  ephemeral   = true
}

variable "cosign_password" {
  description = "The password of the key."
  type        = string
  sensitive   = true
  ephemeral   = true
}

resource "kalypso_environment_rendering" "dev" {
  environment   = "dev"
  cluster_types = { large = { reconciler = "arc-flux", namespace_service = "default" } }
  gitops_repo   = { repo = "https://github.com/acme/gitops", branch = "dev" }
}

# cosign verify --key cosign.pub --insecure-ignore-tlog, and the secret of an OCIRepository's verify.
output "cosign_pub" {
  value = kalypso_oci_artifacts.dev.public_key
}

# cosign, flux pull and OCIRepository take an artifact by its digest.
output "large" {
  value = kalypso_oci_artifacts.dev.artifacts["large"].digest
}
