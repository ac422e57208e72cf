resource "kalypso_secret" "test" {
  name = "all"
  data = { TOKEN = { store = "vault", key = "hello/token" } }
}
