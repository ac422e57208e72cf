variable "github_token" {
  type      = string
  sensitive = true
}

# The token, or an app in its place, opens the API, and the repos over HTTPS where git_credentials has none for them.
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
  }
}

output "pull_request" {
  value = one(kalypso_environment_rendering.prod.pull_request[*].url)
}

# Whatever must not begin before the tree is on the branch looks at this.
output "delivered" {
  value = kalypso_environment_rendering.prod.delivered
}
