data "kalypso_control_plane" "nothing" { # error: Missing control plane
}

data "kalypso_control_plane" "both" {
  repo      = "https://acme.io/cp"
  branch    = "dev"
  directory = "cp" # error: Two control planes
}

data "kalypso_control_plane" "no_branch" { # error: Missing branch
  repo = "https://acme.io/cp"
}

data "kalypso_control_plane" "of_a_repo" {
  directory = "cp"
  branch    = "dev" # error: Conflicting arguments
  path      = "env" # error: Conflicting arguments
}

data "kalypso_control_plane" "of_a_folder" {
  repo           = "https://me:pw@acme.io/cp" # error: Invalid repo URL
  branch         = "refs/heads/dev"           # error: Invalid branch name
  base_directory = "base"                     # error: Conflicting arguments
  on_error       = "ignore"                   # error: Invalid Attribute Value Match
}

# An argument that is not known yet may be anything.
resource "terraform_data" "later" {
}

data "kalypso_control_plane" "later" {
  repo      = terraform_data.later.output
  directory = "cp"
  branch    = terraform_data.later.output
}

data "kalypso_control_plane" "commit" {
  repo   = "https://acme.io/cp"
  branch = "dev"
  commit = "0123456789012345678901234567890123456789"
  pins   = { shop = null }
}

data "kalypso_workloads" "no_repo" { # error: Missing GitOps repo
  registrations = {}
  on_error      = "last_good"
}

data "kalypso_workloads" "half_a_repo" {
  registrations = { later = terraform_data.later.output }
  gitops_repo   = { repo = "https://acme.io/gitops" } # error: Missing branch
}

# Keys whose signatures count.
data "kalypso_control_plane" "folder_verified" {
  directory = "cp"
  verify = { # error: Conflicting arguments
    ssh = ["ann@acme.io ${local.key}"]
  }
}

data "kalypso_control_plane" "no_keys" {
  repo   = "https://acme.io/cp"
  branch = "dev"
  verify = { # error: Missing key
    revoked = [local.key]
  }
}

data "kalypso_workloads" "history" {
  registrations = {}
  verify        = { ssh = ["ann@acme.io ${local.key}"], mode = "history" }
  gitops_repo   = null # error: Missing GitOps repo
}

data "kalypso_workloads" "keys" {
  registrations = {}
  verify = { # error: Invalid key: Line 1 has an unknown option or value: verify-required; Invalid key: Line 1 is not <principals>; Invalid key: It contains a private key; Invalid key: It is not a public key in OpenPGP; Invalid key: Line 1 is not <type of the key>
    ssh = [
      "ann@acme.io ${local.key}",
      "ann@acme.io verify-required ${local.key}",
      local.key,
      "-----BEGIN OPENSSH PRIVATE KEY-----",
      terraform_data.later.output,
    ]
    openpgp = [local.key]
    revoked = ["ann@acme.io ${local.key}"]
  }
}

data "kalypso_workloads" "mode" { # error: Invalid Attribute Value Match
  registrations = {}
  verify        = { ssh = ["ann@acme.io ${local.key}"], mode = "all" }
}

data "kalypso_promotion" "keys" {
  environment = "dev"
  gitops_repo = { repo = "https://acme.io/gitops", branch = "dev" }
  control_plane = { # error: Invalid key: Line 1 has an unknown option or value: namespaces
    repo   = "https://acme.io/cp"
    branch = "main"
    verify = { ssh = ["ann@acme.io namespaces=git ${local.key}"] }
  }
}

data "kalypso_promotion" "later" {
  environment   = "dev"
  gitops_repo   = { repo = "https://acme.io/gitops", branch = "dev" }
  control_plane = { repo = "https://acme.io/cp", branch = "main", verify = terraform_data.later.output }
}

locals {
  key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBCCQhhHqZiJxM5fSdtHQ718giSYI6nSyIHlTa/aD3gQ"
}

data "kalypso_control_plane" "promoted_folder" {
  directory      = "cp"
  base_directory = "base"
  promotion      = { commit = "abc" } # error: Promotion without a base
}

# One of the two may turn out to be null.
variable "preview" {
  type    = bool
  default = false
}

data "kalypso_control_plane" "folder_or_promotion" {
  directory      = "cp"
  base_directory = var.preview ? "base" : null
  promotion      = var.preview ? null : { commit = "abc" }
}
