# Applies to every assignment.
resource "kalypso_secret" "base" {
  name = "base"

  data = {
    DATABASE_PASSWORD = { store = "vault", key = "database", property = "password" }
  }
}

# Applies to the cluster types and deployment targets of the region, after the first, in the order of the names.
resource "kalypso_secret" "west_us" {
  name   = "west-us"
  labels = { region = "west-us" }

  data = {
    DATABASE_PASSWORD = { store = "vault", key = "west-us/database" } # keeps the property of the first
    API_TOKEN         = { store = "azure-key-vault", key = "api-token" }
  }
}
