variable "repo" {
  type = string
}

locals {
  fleets = jsondecode(file("fleets.json"))
}

# A branch for each fleet.
resource "kalypso_environment_rendering" "golden" {
  for_each = local.fleets

  guardrails = { allow_empty = true, invalid_objects = "warn" } # some schedule nothing, or render no objects

  environment     = each.value.environment
  promoted_commit = each.value.promoted_commit
  manifests = {
    for f in fileset("${path.module}/fleets/${each.key}", "**") :
    f => file("${path.module}/fleets/${each.key}/${f}")
  }
  gitops_repo   = { repo = var.repo, branch = each.key }
  create_branch = true
  adopt         = each.value.existing
  preview       = each.value.preview
}
