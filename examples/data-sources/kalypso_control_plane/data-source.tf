# An environment's branch of an existing control plane, rendered as it is: with the base that its BaseRepo pins, and the
# Workloads behind its registrations.
data "kalypso_control_plane" "this" {
  repo   = "https://github.com/acme/kalypso-control-plane"
  branch = terraform.workspace
}

resource "kalypso_environment_rendering" "this" {
  environment     = terraform.workspace
  manifests       = data.kalypso_control_plane.this.manifests
  sources         = data.kalypso_control_plane.this.sources
  gitops_repo     = data.kalypso_control_plane.this.gitops_repo
  promoted_commit = data.kalypso_control_plane.this.base_commit
  adopt           = true # the folders that the operator left
}

# The same in a pipeline that runs in the checkout of the environment's branch, before it is merged.
data "kalypso_control_plane" "checkout" {
  directory = "${path.module}/control-plane"
}

# The text that turns it into HCL: terraform output -raw import_blocks > model.tf
output "import_blocks" {
  value = data.kalypso_control_plane.this.import_blocks
}
