# Renders the branch of an environment in an existing control plane, with the base that its BaseRepo pins and the
# Workloads of its registrations.
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
  adopt           = true # the folders that the operator wrote
}

# In a pipeline that runs in a checkout of the environment's branch, before a change is merged.
data "kalypso_control_plane" "checkout" {
  directory = "${path.module}/control-plane"
}

# Converts the control plane to HCL: terraform output -raw import_blocks > model.tf
output "import_blocks" {
  value = data.kalypso_control_plane.this.import_blocks
}
