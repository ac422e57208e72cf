resource "kalypso_config_schema" "test" {
  name   = "west"
  labels = { region = "west-us" }
  schema = jsonencode({
    type       = "object"
    properties = { REGION = { type = "string", pattern = "^[A-Z<>&]+$" } }
  })
}
