resource "kalypso_oci_artifacts" "dev" {
  gitops_repo = var.rendering.gitops_repo
  commit      = var.rendering.commit_sha
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

variable "rendering" {
  description = "A kalypso_environment_rendering."
  type = object({
    gitops_repo = object({ repo = string, branch = string })
    commit_sha  = string
  })
}

# cosign verify --key cosign.pub --insecure-ignore-tlog, and the secret of an OCIRepository's verify.
output "cosign_pub" {
  value = kalypso_oci_artifacts.dev.public_key
}

# cosign, flux pull and OCIRepository take an artifact by its digest.
output "large" {
  value = kalypso_oci_artifacts.dev.artifacts["large"].digest
}
