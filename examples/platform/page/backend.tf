# The state of all environments. The pipeline adds the key of one: -backend-config=key=dev.tfstate
terraform {
  backend "azurerm" {
    resource_group_name  = "fleet"
    storage_account_name = "acmefleet"
    container_name       = "state"
    use_azuread_auth     = true
    use_oidc             = true
  }
}
