terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

# A Git repo in a local folder needs no credentials.
provider "kalypso" {
  commit_author = {
    name  = "Kalypso Quickstart"
    email = "quickstart@example.com"
  }
}
