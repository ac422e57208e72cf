# The values that every assignment to a cluster type of the region must have.
resource "kalypso_config_schema" "west_us" {
  name   = "west-us-schema"
  labels = { region = "west-us" }

  schema = jsonencode({
    "$schema" = "http://json-schema.org/draft-07/schema#"
    type      = "object"
    required  = ["REGION", "DATABASE_URL"]
    properties = {
      REGION       = { type = "string" }
      DATABASE_URL = { type = "string", pattern = "^mysql://" }
    }
  })
}
