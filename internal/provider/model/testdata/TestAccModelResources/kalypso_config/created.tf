resource "kalypso_config" "test" {
  name = "all"
  data = { REGION = "West" }
}
