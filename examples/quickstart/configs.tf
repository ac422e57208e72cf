# Platform configuration. A config applies to an assignment if its labels are on the cluster type or on the deployment
# target; without labels it applies to all assignments. The values are committed in plain text: use no secrets here.
locals {
  configs = {
    environment-config = {
      labels = {}
      data = {
        ENVIRONMENT                      = title(var.environment)
        SOME_COMMON_ENVIRONMENT_VARIABLE = "false"
      }
    }
    west-us-config = {
      labels = { region = "west-us" }
      data = {
        REGION       = "West US"
        DATABASE_URL = "mysql://west:8806/mysql2"
      }
    }
    east-us-config = {
      labels = { region = "east-us" }
      data   = { REGION = "East US" }
    }
    restricted-config = {
      labels = { restricted = "true" }
      data   = { DATABASE_URL = "mysql://restricted-host:3306/mysqlrty123" }
    }
    large-config = {
      labels = { cluster-type = "large" }
      data   = { CLUSTER_NAME = "Large" }
    }
    small-config = {
      labels = { cluster-type = "small" }
      data   = { CLUSTER_NAME = "Small" }
    }
    drone-config = {
      labels = { cluster-type = "drone" }
      data   = { CLUSTER_NAME = "Drone" }
    }
  }
}

resource "kalypso_config" "all" {
  for_each = local.configs

  name   = each.key
  labels = each.value.labels
  data   = each.value.data
}

# The values that every assignment must have.
resource "kalypso_config_schema" "platform" {
  name = "platform"

  schema = jsonencode({
    "$schema" = "http://json-schema.org/draft-07/schema#"
    type      = "object"
    required  = ["CLUSTER_NAME", "DATABASE_URL", "ENVIRONMENT", "REGION"]
    properties = {
      DATABASE_URL = { type = "string", pattern = "^mysql://" }
    }
  })
}
