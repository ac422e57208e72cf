resource "kalypso_template" "test" {
  name         = "env"
  labels       = { a = "b" }
  type         = "config"
  content_type = "sh"
  manifests = [
    <<-EOT
      {{- range $k, $v := .ConfigData }}
      export {{ $k }}="$${PREFIX}{{ $v }}"
      {{- end }}
    EOT
    , ""
  ]
}
