variable "github_token" {
  type      = string
  sensitive = true
}

# The token (or GitHub App) authenticates to the API, and to Git over HTTPS for repos without an entry in
# git_credentials.
provider "kalypso" {
  github        = { token = var.github_token }
  commit_author = { name = "Kalypso", email = "kalypso@acme.io" }
}

resource "kalypso_environment_rendering" "prod" {
  environment = "prod"
  manifests   = { for f in fileset(path.module, "fleet/**/*.yaml") : f => file("${path.module}/${f}") }

  gitops_repo = {
    repo   = "https://github.com/acme/gitops"
    branch = "prod"
  }

  delivery = {
    strategy  = "pull_request"
    labels    = ["platform"]
    reviewers = ["acme/platform"]
    owners = [ # are asked too, if the change touches their folders
      { workspace = "kaizen", reviewers = ["acme/kaizen-leads"] },
      { cluster_types = ["large"], reviewers = ["acme/sre"] },
    ]
  }
}

output "pull_request" {
  value = one(kalypso_environment_rendering.prod.pull_request[*].url)
}

# Make anything that must wait for the merge depend on this output.
output "delivered" {
  value = kalypso_environment_rendering.prod.delivered
}
