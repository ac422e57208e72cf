resource "kalypso_config_schema" "test" {
  name   = "all"
  schema = jsonencode({ required = ["REGION"] })
}
