terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}
