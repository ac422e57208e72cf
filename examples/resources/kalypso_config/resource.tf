# Applies to the cluster types and deployment targets of the region.
resource "kalypso_config" "west_us" {
  name   = "west-us-config"
  labels = { region = "west-us" }

  data = {
    REGION       = "West US"
    DATABASE_URL = "mysql://west:8806/mysql2"

    # A structured value. Values of later configs merge onto it.
    LIMITS = yamlencode({ cpu = "500m", memory = "1Gi" })
  }
}

# Applies to one cluster type.
resource "kalypso_config" "large" {
  name   = "large-config"
  labels = { cluster-type = "large" }

  data = { CLUSTER_NAME = "Large" }
}

# The keys show the scope of each config.
resource "kalypso_config" "azure" {
  name = "azure-app-config"

  data = {
    "region.west-us.purpose.test.LOG_LEVEL" = "debug"
  }
}
