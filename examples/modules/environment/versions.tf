terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}
