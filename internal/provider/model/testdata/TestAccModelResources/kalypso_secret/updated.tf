resource "kalypso_secret" "test" {
  name   = "west"
  labels = { region = "west-us" }
  data = {
    TOKEN    = { store = "vault-west", key = "hello/token" }
    PASSWORD = { store = "vault-west", key = "db", property = "password" }
  }
}
