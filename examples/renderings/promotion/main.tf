variable "promoted_commit" {
  description = "The commit of the control plane's main branch that this environment renders."
  type        = string
}

# The folder control-plane/main contains the checkout of that commit, which CI creates before it runs Terraform.
resource "kalypso_environment_rendering" "stage" {
  environment = "stage"
  manifests = merge(
    {
      for f in fileset(path.module, "control-plane/main/**/*.yaml") :
      "https://github.com/acme/control-plane@${var.promoted_commit}:${trimprefix(f, "control-plane/main/")}" =>
      file("${path.module}/${f}")
    },
    { for f in fileset(path.module, "control-plane/stage/**/*.yaml") : f => file("${path.module}/${f}") },
  )

  gitops_repo = {
    repo   = "https://github.com/acme/gitops"
    branch = "stage"
  }
  promoted_commit = var.promoted_commit
}
