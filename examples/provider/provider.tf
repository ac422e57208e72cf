terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

variable "git_token" {
  description = "A token that may push to the repos below https://github.com/acme."
  type        = string
  sensitive   = true
}

variable "deploy_key" {
  description = "A private key that may push to git.acme.io."
  type        = string
  sensitive   = true
}

variable "known_hosts" {
  description = "The host keys of git.acme.io, as ssh-keyscan prints them."
  type        = string
}

# Without git_credentials, the provider uses the environment variable GITHUB_TOKEN for github.com.
provider "kalypso" {
  git_credentials = [
    {
      url      = "https://github.com/acme"
      username = "x-access-token"
      password = var.git_token
    },
    {
      url         = "ssh://git@git.acme.io"
      private_key = var.deploy_key
      known_hosts = var.known_hosts
    },
  ]

  commit_author = {
    name  = "Kalypso"
    email = "kalypso@acme.io"
  }
  commit_trailers = {
    Signed-off-by = "Platform team <platform@acme.io>"
  }
}
