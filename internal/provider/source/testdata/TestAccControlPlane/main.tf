variable "url" {
  type = string
}

variable "password" {
  type      = string
  sensitive = true
}

# Control planes: name → environment.
variable "control_planes" {
  type = map(string)
}

variable "preview" {
  type    = string
  default = null
}

provider "kalypso" {
  git_credentials = [{ url = var.url, username = "me", password = var.password }]
}

data "kalypso_control_plane" "this" {
  for_each = var.control_planes

  repo   = "${var.url}/${each.key}"
  branch = each.value
}

# What a team that leaves the operator writes.
resource "kalypso_environment_rendering" "this" {
  for_each = var.control_planes

  environment     = each.value
  manifests       = data.kalypso_control_plane.this[each.key].manifests
  sources         = data.kalypso_control_plane.this[each.key].sources
  gitops_repo     = data.kalypso_control_plane.this[each.key].gitops_repo
  promoted_commit = data.kalypso_control_plane.this[each.key].base_commit
  create_branch   = true
  delivery        = { describe = "keys" }
  adopt           = true
  guardrails      = { allow_empty = true, invalid_objects = "warn" } # one has nothing scheduled, two render no objects
  preview         = var.preview
}
