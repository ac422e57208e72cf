resource "kalypso_config" "test" {
  name   = "west"
  labels = { region = "west-us" }
  data = {
    REGION   = "West US"
    EMPTY    = ""
    REPLICAS = 3
    LIMITS   = yamlencode({ cpu = 1 })
  }
}
