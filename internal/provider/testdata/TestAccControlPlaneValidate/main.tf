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
