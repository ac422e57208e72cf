# The same errors in Kalypso YAML, all in one rendering: each is on the text that holds it, and names document and line.

resource "kalypso_environment_rendering" "this" {
  environment = "dev"
  manifests   = { for f in fileset(path.module, "**/*.yaml") : f => file("${path.module}/${f}") }
  delivery    = { strategy = "none" }
}
